// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import type { ParsedConfig } from '../config/parse.ts'
import type { RouterConfig } from '../config/types.ts'
import { orderProblems, type Problem } from '../config/problem.ts'
import { createRedactor } from '../upstream/secrets/mask.ts'
import { type ConfigRequest, loadConfig } from './read-config-file.ts'

/** What a check found. */
interface Findings {
  readonly problems: readonly Problem[]
  /** The chain specs; null when they cannot be used. */
  readonly catalog: ChainCatalog | null
}

/** Finds what is wrong beyond the file: with the chains, interfaces and files that it refers to. */
export type CheckReferences = (parsed: ParsedConfig) => Promise<Findings>

/** A config with all that is wrong with it. */
export interface JudgedConfig extends Findings {
  /** Null when a problem is an error. */
  readonly config: RouterConfig | null
  /** Takes every value out of a text that must not be printed. */
  readonly redact: (text: string) => string
}

/** Reads a config and judges it, the same for `run` and for `validate`. */
export async function judgeConfig(
  request: ConfigRequest,
  checkReferences: CheckReferences,
): Promise<JudgedConfig> {
  const parsed = await loadConfig(request)
  const { problems: others, catalog } = await checkReferences(parsed)
  const problems = orderProblems([...parsed.problems, ...others])
  const valid = problems.every(({ severity }) => severity !== 'error')
  const config = valid ? parsed.config : null
  return { config, problems, catalog, redact: createRedactor(parsed.hidden()) }
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
