// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { NoRoom } from '../upstream/transport.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Cooldowns, SocketUrls } from './socket-urls.ts'
import type { Source, Sources } from './source.ts'
import { NodeRefused, type TopicRequest } from './subscriptions.ts'

export interface FindSourceOptions {
  readonly request: TopicRequest
  readonly sources: Sources
  readonly urls: SocketUrls
  /** URLs that refused this topic. Of other topics that says nothing. */
  readonly refusals: Cooldowns
}

/**
 * Subscribes at the first URL that accepts. URLs that fail cool down, those that refuse for this topic.
 * @returns why there is no source: a node's own error where one gave any
 */
export async function findSource(
  { request, sources, urls, refusals }: FindSourceOptions,
  signal: AbortSignal,
): Promise<Source | NodeRefused | RelayError> {
  const tried = new Set<SocketUrl>()
  let refusal: NodeRefused | null = null
  while (!signal.aborted) {
    const place = urls.next((url) => tried.has(url) || refusals.has(url))
    if (place === null) break
    tried.add(place.url)
    try {
      return await sources.open(request, place, signal)
    } catch (error) {
      if (error instanceof NodeRefused) {
        refusals.begin(place.url)
        if (!error.isItsOwnTrouble) return error
        refusal = error
      } else if (!(error instanceof TransportError)) throw error
      else if (!(error instanceof NoRoom) && !signal.aborted) urls.cooldowns.begin(place.url)
    }
  }
  return refusal ?? notFound(tried.size > 0, urls.hasAny)
}

function notFound(hasAsked: boolean, hasUrls: boolean): RelayError {
  if (hasAsked)
    return new RelayError(errorKinds.upstreamFailed, 'every upstream failed to subscribe')
  const why = hasUrls
    ? 'no upstream has a WebSocket URL that can be subscribed at now'
    : 'this subscription needs an upstream with a WebSocket URL, and none has one: the operator of the router has to add a ws:// or wss:// URL to node-urls of an upstream'
  return new RelayError(errorKinds.noUpstream, why)
}
