// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Entries } from '../config/entries.ts'
import { specNote } from '../config/checks/check-chains.ts'
import { nearest } from '../config/nearest.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { gather, type Problem, quote, type Report } from '../config/problem.ts'
import type { RouterConfig } from '../config/types.ts'
import { matchesAny } from './method-rule.ts'
import type { ChainCatalog, ChainInterface, MethodSpec } from './types.ts'

/** Reports policies for methods that are not in the spec, or that cannot be cross-validated. */
export function checkMethods(
  { entries, config, locate }: Pick<ParsedConfig, 'entries' | 'config' | 'locate'>,
  catalog: ChainCatalog,
): readonly Problem[] {
  return gather(locate, (report) => {
    if (config) checkCachePolicies(config, catalog, report)
    for (const each of [...entries.endpoints, ...entries.upstreams])
      checkPatterns(each, catalog, report)
    for (const { entry, path } of entries.policies) {
      const { 'chain-id': chainId = '', 'api-interface': apiInterface, method } = entry
      const iface = apiInterface && catalog.find(chainId)?.interfaces.get(apiInterface)
      if (!iface || method === undefined) continue
      const spec = classified(iface, method)
      const at = `${path}.method`
      if (spec === null) {
        const message = `the spec of ${chainId} names no method ${quote(method)} on ${apiInterface}`
        report(at, message, hintFor(method, [...iface.methods]) + specNote(catalog.find(chainId)))
      } else if (spec.kind !== 'read' || spec.stateful !== null) {
        const message = `${method} cannot be cross-validated: only reads that depend on the chain alone can`
        report(at, message)
      } else if (spec.name !== method)
        report(at, `${method} is an alias of ${spec.name}`, `Write ${quote(spec.name)}.`)
    }
  })
}

/** Warns of patterns for methods that are not in the spec, which the router relays all the same. */
function checkPatterns(
  { entry, path }: Entries['endpoints' | 'upstreams'][number],
  catalog: ChainCatalog,
  report: Report,
): void {
  const { 'chain-id': chainId = '', 'api-interface': apiInterface } = entry
  const iface = apiInterface && catalog.find(chainId)?.interfaces.get(apiInterface)
  if (!iface) return
  for (const key of ['allowed-methods', 'denied-methods'] as const)
    for (const [index, pattern] of (entry[key] ?? []).entries()) {
      if (pattern === undefined || matchesAny(pattern, iface)) continue
      const message = `${quote(pattern)} matches no method of ${chainId} ${apiInterface}`
      const near = nearest(pattern, [...iface.methods])
      const hint = near === null ? null : `Did you mean ${quote(near)}?`
      report(`${path}.${key}[${index}]`, message, hint, 'warning')
    }
}

/** Reports cache policies that match no method of any listener, or only uncacheable methods. */
function checkCachePolicies(
  { endpoints, cache }: RouterConfig,
  catalog: ChainCatalog,
  report: Report,
): void {
  for (const [index, policy] of cache.policies.entries()) {
    const { chainId, apiInterface, method, pattern, ttlMs } = policy
    const path = `cache.policies[${index}]`
    const own = endpoints.filter(
      (each) =>
        (chainId === null || catalog.find(each.chainId) === catalog.find(chainId)) &&
        (apiInterface === null || each.apiInterface === apiInterface),
    )
    if (own.length === 0) {
      const wanted = [chainId, apiInterface].filter((each) => each !== null).join(' ')
      const served = endpoints.map((each) => `${each.chainId} ${each.apiInterface}`)
      const key = chainId === null ? 'api-interface' : 'chain-id'
      const hint = `Existing ones serve ${[...new Set(served)].join(', ')}.`
      report(`${path}.${key}`, `no listener of endpoints serves ${wanted}`, hint)
      continue
    }
    const served = own.flatMap(
      (each) => catalog.find(each.chainId)?.interfaces.get(each.apiInterface) ?? [],
    )
    const names = served.flatMap((iface) => [...iface.methods])
    const fitting = names.filter((name) => pattern.test(name))
    if (fitting.length > 0) {
      const methods = fitting.flatMap((name) => served.map((iface) => classified(iface, name)))
      if (ttlMs === null || !methods.every((each) => each === null || isNeverCached(each))) continue
      const message = `${method} is never cached: only reads that depend on the chain alone are`
      report(`${path}.method`, message, 'Remove the policy.')
      continue
    }
    const alias = served.map((iface) => classified(iface, method)?.name).find(Boolean)
    const hint = alias === undefined ? hintFor(method, names) : `Write ${quote(alias)}.`
    report(`${path}.method`, `no listener serves a method ${quote(method)}`, hint)
  }
}

/** Whether no block makes a call cacheable. Without params, an `invalid` block proves nothing. */
function isNeverCached({ kind, cacheable, stateful, waitsForBlock, block }: MethodSpec): boolean {
  if (kind !== 'read' || stateful !== null || waitsForBlock) return true
  return !cacheable && block.kind !== 'invalid'
}

function hintFor(method: string, names: readonly string[]): string {
  const near = nearest(method, names)
  return near === null ? 'Write it as the spec does.' : `Did you mean ${quote(near)}?`
}

/** Classifies a call without params. Null if the spec lacks the method. */
export function classified(iface: ChainInterface, method: string): MethodSpec | null {
  const { apiInterface } = iface
  const header = () => null
  const questions =
    apiInterface === 'rest'
      ? ['GET', 'POST'].map((verb) => ({ apiInterface, verb, path: method, query: '', header }))
      : [{ apiInterface, method, params: [], header }]
  for (const question of questions) {
    const spec = iface.classify(question)
    if (spec.known) return spec
  }
  return null
}
