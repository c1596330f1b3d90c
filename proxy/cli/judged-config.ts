// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { orderProblems, type Problem } from '../config/problem.ts'
import { type ConfigRequest, loadConfig } from './read-config-file.ts'

/** Finds what is wrong beyond the file: with the chains, interfaces and files that it refers to. */
export type CheckReferences = (parsed: ParsedConfig) => Promise<{
  readonly problems: readonly Problem[]
  /** The chain specs; null when they cannot be used. */
  readonly catalog: ChainCatalog | null
}>

/** A config file with everything that is wrong with it. */
export interface JudgedConfig {
  readonly parsed: ParsedConfig
  /** Of the file and of what it refers to, in the order of the file. */
  readonly problems: readonly Problem[]
  /** No problem is an error. */
  readonly valid: boolean
  readonly catalog: ChainCatalog | null
}

/** Reads a config and judges it, the same for `run` and for `validate`. */
export async function judgeConfig(
  request: ConfigRequest,
  checkReferences: CheckReferences,
): Promise<JudgedConfig> {
  const parsed = await loadConfig(request)
  const references = await checkReferences(parsed)
  const problems = orderProblems([...parsed.problems, ...references.problems])
  const valid = problems.every(({ severity }) => severity !== 'error')
  return { parsed, problems, valid, catalog: references.catalog }
}

/**
 * One line for one problem: `file:line:column: error: path: message. hint`; what is wrong with a flag or a variable is
 * not of the file: `router: error: --flag: message. hint`.
 */
export function problemLine(file: string, problem: Problem): string {
  const { severity, path, line, column, message, hint } = problem
  const origin = /^(?:-|SR_)/.test(path) ? 'router' : file
  const place = line === null ? origin : `${file}:${line}:${column ?? 1}`
  const about = path === '' ? '' : `${path}: `
  const remedy = hint === null ? '' : ` ${sentence(hint)}`
  return `${place}: ${severity}: ${about}${sentence(message)}${remedy}`
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** The exit codes of the process. */
export const exitCodes = {
  /** Done; a stopped router answered every call that was in flight. */
  done: 0,
  /** It could not do its work: an address is taken, or calls were cut off at the end. */
  failed: 1,
  /** The command line or the config cannot be served as it is. */
  invalid: 2,
} as const
