// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { NoRoom } from '../upstream/socket-transport.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Cooldowns, SocketPlace, SocketUrls } from './socket-urls.ts'
import type { Source, Sources } from './source.ts'
import { NodeRefused, type TopicRequest } from './subscriptions.ts'

/** When an upstream has not answered after so long, the next one is asked beside it. */
const hedgeMs = 1_000

export interface FindSourceOptions {
  readonly request: TopicRequest
  readonly clock: Clock
  readonly sources: Sources
  readonly urls: SocketUrls
  /** URLs that refused this topic. Of other topics that says nothing. */
  readonly refusals: Cooldowns
}

/** What became of asking one URL. */
interface Outcome {
  readonly place: SocketPlace
  readonly sinceMs: number
  readonly source: Source | null
  readonly error: unknown
}

/**
 * Subscribes at the first URL that accepts, and takes the other requests back. URLs that fail cool
 * down, and so do those that let others wait.
 * @param budgetMs the search ends after so long; null: when every URL has had its time
 * @returns why there is no source: a node's own error where one gave any
 */
export async function findSource(
  options: FindSourceOptions,
  signal: AbortSignal,
  budgetMs: number | null,
): Promise<Source | NodeRefused | RelayError> {
  const { clock, urls, refusals } = options
  const limit = new TimeLimit(clock, signal, budgetMs)
  const ending = new AbortController()
  const either = AbortSignal.any([limit.signal, ending.signal])
  const tried = new Set<SocketUrl>()
  const asked = new Map<SocketPlace, Promise<Outcome>>()
  let refusal: NodeRefused | null = null
  try {
    for (;;) {
      const place = either.aborted ? null : urls.next((url) => tried.has(url) || refusals.has(url))
      if (place) {
        tried.add(place.url)
        asked.set(place, ask(place, either, options))
      } else if (asked.size === 0) break
      const outcome = await firstOrLate([...asked.values()], clock)
      if (outcome === null) continue
      const { source, error } = outcome
      asked.delete(outcome.place)
      if (source) return source
      if (!signal.aborted) learn(outcome, options)
      if (error instanceof NodeRefused) refusal = error
      else if (!(error instanceof TransportError)) throw error
      if (refusal?.isItsOwnTrouble === false) break
    }
  } finally {
    limit.end()
    ending.abort()
    for (const attempt of asked.values())
      void attempt.then((outcome) => {
        if (outcome.source) outcome.source.close()
        else if (!signal.aborted) learn(outcome, options)
      })
  }
  return refusal ?? notFound(tried.size > 0, urls.hasAny)
}

/** Never rejects. */
async function ask(
  place: SocketPlace,
  signal: AbortSignal,
  { clock, sources, request }: FindSourceOptions,
): Promise<Outcome> {
  const sinceMs = clock.nowMs()
  try {
    const source = await sources.open(request, place, signal)
    return { place, sinceMs, source, error: null }
  } catch (error) {
    return { place, sinceMs, source: null, error }
  }
}

/** The first outcome; null when there is none for long. */
async function firstOrLate(
  asked: readonly Promise<Outcome>[],
  clock: Clock,
): Promise<Outcome | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const cancel = clock.after(hedgeMs, () => {
    resolve(null)
  })
  try {
    return await Promise.race([...asked, late])
  } finally {
    cancel()
  }
}

/** A refusal concerns the topic, a failure the URL; that there is no room, neither. */
function learn({ place, sinceMs, error }: Outcome, options: FindSourceOptions): void {
  const { clock, urls, refusals } = options
  if (error instanceof NodeRefused) return refusals.begin(place.url)
  if (!(error instanceof TransportError) || error instanceof NoRoom) return
  const isTakenBackEarly = error.fault === 'aborted' && clock.nowMs() - sinceMs < hedgeMs
  if (!isTakenBackEarly) urls.cooldowns.begin(place.url)
}

function notFound(hasAsked: boolean, hasUrls: boolean): RelayError {
  if (hasAsked)
    return new RelayError(errorKinds.upstreamFailed, 'every upstream failed to subscribe')
  const why = hasUrls
    ? 'no upstream has a WebSocket URL that can be subscribed at now'
    : 'this subscription needs an upstream with a WebSocket URL, and none has one: the operator of the router has to add a ws:// or wss:// URL to node-urls of an upstream'
  return new RelayError(errorKinds.noUpstream, why)
}
