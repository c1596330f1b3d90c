// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Entries, Placed, PlacedUpstream } from '../entries.ts'
import { type Locate, quote, type Report } from '../problem.ts'
import type { UpstreamEntry } from '../schema.ts'

/** The one id of a chain, whatever name the file has for it; null when nobody knows it, which is reported elsewhere. */
export type ChainIdOf = (written: string) => string | null

/**
 * What is wrong between listeners and upstreams: names and URLs that stand twice, listeners without upstreams,
 * upstreams without listeners. Works on a file that has other mistakes too, and then decides in the file's favour.
 */
export function checkServing(
  { endpoints, upstreams }: Entries,
  chainIdOf: ChainIdOf,
  locate: Locate,
  report: Report,
): void {
  /** `ETH1 jsonrpc`; null when the entry says nothing that can be understood. */
  const servesOf = ({
    entry: { 'chain-id': chainId, 'api-interface': apiInterface },
  }: Placed<Pick<UpstreamEntry, 'chain-id' | 'api-interface'>>): string | null => {
    const id = chainId === undefined ? null : chainIdOf(chainId)
    return id === null || apiInterface === undefined ? null : `${id} ${apiInterface}`
  }
  const lineOf = (path: string): string => `line ${locate(path)?.line ?? '?'}`
  const offered = new Map(endpoints.map((endpoint) => [endpoint.path, servesOf(endpoint)]))
  const served = new Map(upstreams.map((upstream) => [upstream, servesOf(upstream)]))
  const byName = new Map<string, string>()
  const byUrl = new Map<string, { readonly upstream: PlacedUpstream; readonly path: string }>()
  for (const [upstream, serves] of served) {
    const { entry, path, urls } = upstream
    if (serves === null) continue
    const first = byName.get(`${serves} ${entry.name}`)
    if (first === undefined) byName.set(`${serves} ${entry.name}`, path)
    else if (entry.name !== undefined) {
      const message = `an upstream named ${quote(entry.name)} serves ${serves} already`
      const hint = `It is on ${lineOf(`${first}.name`)}. Names are unique per chain and interface, over both tiers.`
      report(`${path}.name`, message, hint)
    }
    for (const { entry: node, path: at } of urls) {
      if (node.url === undefined) continue
      const key = `${serves} ${node.url.url.reveal()}`
      const same = byUrl.get(key) ?? { upstream, path: at }
      byUrl.set(key, same)
      if (same.upstream === upstream) continue
      const message = `upstream ${quote(same.upstream.entry.name ?? '')} has the same URL, on ${lineOf(`${same.path}.url`)}`
      const hint = 'A retry at one of them is no second chance, and its failures count twice.'
      report(`${at}.url`, message, hint, 'warning')
    }
  }
  const primaries = [...served].filter(([{ tier }]) => tier === 'primary')
  const ids = new Set(primaries.map(([, serves]) => serves))
  // An upstream that cannot be understood may be the one that is missed.
  for (const [path, serves] of ids.has(null) ? [] : offered)
    if (serves !== null && !ids.has(serves)) {
      const hint = ids.size === 0 ? 'Add one.' : `Those there serve ${[...ids].join(', ')}.`
      report(path, `no upstream of direct-rpc serves ${serves}`, hint)
    }
  const listened = new Set(offered.values())
  for (const [{ path }, serves] of listened.has(null) ? [] : served)
    if (serves !== null && !listened.has(serves)) {
      const message = `no listener of endpoints serves ${serves}, so this upstream is not used`
      report(path, message, null, 'warning')
    }
}
