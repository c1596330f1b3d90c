// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { anyChain, checkChains } from './checks/check-chains.ts'
import type { FlagValues } from './settings.ts'
import { checkServing } from './checks/checks.ts'
import { orderProblems } from './problem.ts'
import { parseConfig } from './parse.ts'
import type { ParsedConfig } from './parse.ts'

/** A valid config; the listener is on lines 1 to 4, the upstream on lines 5 to 10. */
export const minimal = `endpoints:
  - network-address: 127.0.0.1:3360
    chain-id: ETH1
    api-interface: jsonrpc
direct-rpc:
  - name: one
    chain-id: ETH1
    api-interface: jsonrpc
    node-urls:
      - url: https://one.example.com/v1
`

export function parse(
  text: string,
  environment: Readonly<Record<string, string>> = {},
  flags: FlagValues = {},
): ParsedConfig {
  return parseConfig(text, { environment, flags })
}

/** Formats each problem as `line:column severity path: message | hint`. */
export function problemsOf(
  text: string,
  environment: Readonly<Record<string, string>> = {},
  flags: FlagValues = {},
): readonly string[] {
  const parsed = parse(text, environment, flags)
  const { entries, locate } = parsed
  const problems = orderProblems([
    ...parsed.problems,
    ...checkChains(entries, anyChain, locate),
    ...checkServing(entries, anyChain, locate),
  ])
  return problems.map(
    ({ severity, path, line, column, message, hint }) =>
      `${line ?? '-'}:${column ?? '-'} ${severity} ${path}: ${message} | ${hint ?? ''}`,
  )
}
