// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nearest } from '../config/nearest.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { gather, type Problem, quote } from '../config/problem.ts'
import type { ChainCatalog, ChainInterface, Classification } from './types.ts'

/** Reports policies for methods that the chain spec does not name, or that cannot be cross-validated. */
export function checkMethods(
  { entries, locate }: Pick<ParsedConfig, 'entries' | 'locate'>,
  catalog: ChainCatalog,
): readonly Problem[] {
  return gather(locate, (report) => {
    for (const { entry, path } of entries.policies) {
      const { 'chain-id': chainId = '', 'api-interface': apiInterface, method } = entry
      const iface = apiInterface && catalog.find(chainId)?.interfaces.get(apiInterface)
      if (!iface || method === undefined) continue
      const asked = classified(iface, method)
      const at = `${path}.method`
      if (asked === null) {
        const near = nearest(method, [...iface.methods])
        const hint = near === null ? 'Write it as the spec does.' : `Did you mean ${quote(near)}?`
        report(
          at,
          `the spec of ${chainId} names no method ${quote(method)} on ${apiInterface}`,
          hint,
        )
      } else if (asked.kind !== 'read' || asked.stateful !== null) {
        const message = `${method} cannot be cross-validated: only reads can, whose answer depends on the chain alone`
        report(at, message)
      } else if (asked.method !== method)
        report(at, `${method} is another name of ${asked.method}`, `Write ${quote(asked.method)}.`)
    }
  })
}

/** Null for a method that the spec does not name. */
function classified(iface: ChainInterface, method: string): Classification | null {
  const { apiInterface } = iface
  const header = () => null
  const questions =
    apiInterface === 'rest'
      ? ['GET', 'POST'].map((verb) => ({ apiInterface, verb, path: method, query: '', header }))
      : [{ apiInterface, method, params: [], header }]
  for (const question of questions) {
    const asked = iface.classify(question)
    if (asked.known) return asked
  }
  return null
}
