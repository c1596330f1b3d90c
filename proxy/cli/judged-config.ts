// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { orderProblems } from '../config/problem.ts'
import type { ParsedConfig } from '../config/parse.ts'
import type { Problem } from '../config/problem.ts'
import { type ConfigRequest, loadConfig } from './read-config-file.ts'

/** Finds what is wrong beyond the file: with the chains, interfaces and files that it refers to. */
export type CheckReferences = (parsed: ParsedConfig) => Promise<readonly Problem[]>

/** A config file with everything that is wrong with it. */
export interface JudgedConfig {
  readonly parsed: ParsedConfig
  /** Of the file and of what it refers to, in the order of the file. */
  readonly problems: readonly Problem[]
  /** No problem is an error. */
  readonly valid: boolean
}

/** Reads a config and judges it, the same for `run` and for `validate`. */
export async function judgeConfig(
  request: ConfigRequest,
  checkReferences: CheckReferences,
): Promise<JudgedConfig> {
  const parsed = await loadConfig(request)
  const problems = orderProblems([...parsed.problems, ...(await checkReferences(parsed))])
  return { parsed, problems, valid: problems.every(({ severity }) => severity !== 'error') }
}
