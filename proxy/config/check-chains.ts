// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkPolicies } from './check-policies.ts'
import { type Entries, type Placed, placed } from './entries.ts'
import { nearest, suggestion } from './nearest.ts'
import { gather, type Locate, type Problem, quote, type Report } from './problem.ts'
import type { NodeUrlEntry, UpstreamEntry } from './schema.ts'
import type { ApiInterface } from './types.ts'

/** What a config can ask of a chain's interface. */
export interface KnownInterface {
  readonly addons: ReadonlySet<string>
  /** What `skip-verifications` may name: also what the router never asks, and so skips anyway. */
  readonly verificationNames: ReadonlySet<string>
}

/** A chain, as far as a config can ask for it. */
export interface KnownChain {
  readonly id: string
  /** Null where only its name is known. */
  readonly interfaces: ReadonlyMap<ApiInterface, KnownInterface> | null
}

/** The chains that a config is checked against: a catalog of chain specs, or what is known of one. */
export interface KnownChains {
  readonly ids: readonly string[]
  /** By id or alias. */
  find(id: string): KnownChain | null
  /** Whether clients can subscribe on the interface of a chain; null, as without this, where that is not known. */
  subscribes?(id: string, apiInterface: ApiInterface): boolean | null
}

/** Where nothing is known of the chains: any of them may be there. */
export const anyChain: KnownChains = { ids: [], find: (id) => ({ id, interfaces: null }) }

/** Reports what a config asks of chains and their specs do not have. */
export function checkChains(
  entries: Entries,
  known: KnownChains,
  locate: Locate,
): readonly Problem[] {
  const { endpoints, upstreams, policies } = entries
  return gather(locate, (report) => {
    for (const each of [...endpoints, ...policies]) checkEntry(each, [], known, report)
    for (const each of upstreams) checkEntry(each, each.urls, known, report)
    checkPolicies(entries, (id) => known.find(id)?.id ?? id, report)
  })
}

function checkEntry(
  { entry, path }: Placed<Pick<UpstreamEntry, 'chain-id' | 'api-interface'>>,
  urls: readonly Placed<NodeUrlEntry>[],
  known: KnownChains,
  report: Report,
): void {
  const { 'chain-id': chainId, 'api-interface': apiInterface } = entry
  if (chainId === undefined) return
  const chain = known.find(chainId)
  if (chain === null)
    report(`${path}.chain-id`, `No chain spec has the id "${chainId}".`, chainHint(chainId, known))
  const { id = '', interfaces = null } = chain ?? {}
  if (interfaces === null || apiInterface === undefined) return
  const offered = interfaces.get(apiInterface)
  if (offered === undefined) {
    const has = `${id} has: ${[...interfaces.keys()].join(', ')}.`
    report(`${path}.api-interface`, `${id} is not served through ${apiInterface}.`, has)
    return
  }
  const rules = [
    ['addons', 'add-on', [...offered.addons]],
    ['skip-verifications', 'verification', [...offered.verificationNames, '*']],
  ] as const
  for (const url of urls)
    for (const [key, what, has] of rules)
      for (const { path: at, entry: word } of placed<string>(url.entry[key], `${url.path}.${key}`))
        if (!has.includes(word)) {
          const message = `${id} has no ${what} "${word}" on ${apiInterface}.`
          const hint = `It has no ${what}s.`
          report(at, message, has.length > 0 ? suggestion(word, has, `Its ${what}s`, quote) : hint)
        }
}

function chainHint(chainId: string, { ids }: KnownChains): string {
  const near = nearest(chainId, ids)
  if (near !== null) return `Did you mean ${near}?`
  if (ids.length === 0) return 'The spec sources have no chain at all.'
  const rest = ids.length > 20 ? ` and ${ids.length - 20} more` : ''
  return `Known chains: ${ids.slice(0, 20).join(', ')}${rest}. Others can be added with \`--use-static-spec\`.`
}
