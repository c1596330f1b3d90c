// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from './check-chains.ts'
import type { ParsedConfig } from '../parse.ts'
import { gather, type Problem } from '../problem.ts'
import type { RouterConfig } from '../types.ts'

/** A listener that accepts subscriptions while none of its upstreams has a WebSocket URL. */
export interface ListenerWithoutSocket {
  /** Index of its endpoint in the config. */
  readonly index: number
  /** Chain and interface, such as `ETH1 jsonrpc`. */
  readonly serves: string
  readonly upstreams: readonly string[]
  /** False when the chain may have no subscriptions. */
  readonly isCertain: boolean
}

/** Listeners that lack a WebSocket URL, one per chain and interface. */
export function listenersWithoutSocket(
  { endpoints, upstreams }: Pick<RouterConfig, 'endpoints' | 'upstreams'>,
  known: KnownChains,
): readonly ListenerWithoutSocket[] {
  const found = new Map<string, ListenerWithoutSocket>()
  const idOf = (chainId: string) => known.find(chainId)?.id ?? chainId
  for (const [index, { chainId, apiInterface }] of endpoints.entries()) {
    const id = idOf(chainId)
    const serves = `${id} ${apiInterface}`
    const hasTopics = known.subscribes?.(id, apiInterface) ?? null
    const own = upstreams.filter(
      (each) => each.apiInterface === apiInterface && idOf(each.chainId) === id,
    )
    const schemes = own.flatMap(({ nodeUrls }) => nodeUrls.map(({ scheme }) => scheme))
    const hasSocket = schemes.includes('ws') || schemes.includes('wss')
    // A listener without upstreams has its own error.
    if (hasTopics === false || found.has(serves) || hasSocket || own.length === 0) continue
    const names = own.map(({ name }) => name)
    found.set(serves, { index, serves, upstreams: names, isCertain: hasTopics === true })
  }
  return [...found.values()]
}

/** Returns text such as `none of its upstreams (alpha) has a WebSocket URL`. */
export function socketText({ upstreams }: Pick<ListenerWithoutSocket, 'upstreams'>): string {
  return `none of its upstreams (${upstreams.join(', ')}) has a WebSocket URL`
}

/** Reports listeners whose subscriptions cannot work, with the line to add. */
export function checkSockets(
  { config, entries, locate, impliesNoSockets }: SocketInput,
  known: KnownChains,
): readonly Problem[] {
  if (config === null || (config.skipWebsocketVerification && !impliesNoSockets)) return []
  return gather(locate, (report) => {
    for (const each of listenersWithoutSocket(config, known)) {
      const { index, serves, upstreams, isCertain } = each
      if (!isCertain) continue
      const first = entries.upstreams.find(({ entry }) => entry.name === upstreams[0])
      const place = `${first?.path}.node-urls`
      if (impliesNoSockets)
        report(place, `subscriptions to ${serves} are off: ${socketText(each)}`, ofShort, 'warning')
      else
        report(`endpoints[${index}]`, `${serves} has subscriptions, and ${socketText(each)}`, hint)
    }
  })
}
type SocketInput = Pick<ParsedConfig, 'config' | 'entries' | 'locate' | 'impliesNoSockets'>

const hint =
  'To serve without subscriptions add the line "skip-websocket-verification: true" to the file, or start with --skip-websocket-verification. To serve them add a ws or wss URL to one of the upstreams.'
const ofShort =
  'Add a ws or wss URL for them, or accept it with "skip-websocket-verification: true" or --skip-websocket-verification.'
