// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { NoRoom } from '../upstream/socket-transport.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Places, SocketPlace } from './places.ts'
import type { Rests } from './rests.ts'
import {
  openSocketSource,
  type SocketSource,
  type SocketSourceOptions,
  type TopicRequest,
} from './source-socket.ts'
import { NodeRefused } from './subscriptions.ts'

/** Who has not answered after so long is asked on, and the next one beside it. */
const patienceMs = 1_000

export interface SourceSearchOptions extends SocketSourceOptions {
  readonly request: TopicRequest
  readonly places: Places
  /** Who said no to this topic lately: it is not asked again at once. */
  readonly refusals: Rests
}

/** What became of asking one place. */
interface Outcome {
  readonly place: SocketPlace
  readonly sinceMs: number
  readonly source: SocketSource | null
  readonly error: unknown
}

/**
 * Subscribes at the first place that says yes, and takes the others back. What failed rests, and
 * what let others wait.
 * @param budgetMs the search ends after so long; null: when every place has had its time
 * @returns why there is no source: a node's own error where one gave any
 */
export async function searchSource(
  options: SourceSearchOptions,
  signal: AbortSignal,
  budgetMs: number | null,
): Promise<SocketSource | NodeRefused | RelayError> {
  const { clock, places, refusals } = options
  const limit = new TimeLimit(clock, signal, budgetMs)
  const ending = new AbortController()
  const either = AbortSignal.any([limit.signal, ending.signal])
  const tried = new Set<SocketUrl>(refusals.urls)
  const asked = new Map<SocketPlace, Promise<Outcome>>()
  let refusal: NodeRefused | null = null
  let hasAsked = false
  try {
    for (;;) {
      const place = either.aborted ? null : places.next(tried)
      if (place) {
        tried.add(place.url)
        asked.set(place, ask(place, either, options))
        hasAsked = true
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
  return refusal ?? noneOf(hasAsked)
}

/** Never rejects. */
async function ask(
  place: SocketPlace,
  signal: AbortSignal,
  options: SourceSearchOptions,
): Promise<Outcome> {
  const sinceMs = options.clock.nowMs()
  try {
    const source = await openSocketSource(options.request, place, signal, options)
    return { place, sinceMs, source, error: null }
  } catch (error) {
    return { place, sinceMs, source: null, error }
  }
}

/** The first that is done; null when none is for long. */
async function firstOrLate(
  asked: readonly Promise<Outcome>[],
  clock: Clock,
): Promise<Outcome | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const cancel = clock.after(patienceMs, () => {
    resolve(null)
  })
  try {
    return await Promise.race([...asked, late])
  } finally {
    cancel()
  }
}

/** A "no" says something of the topic, a failure of the URL; that there is no room, of neither. */
function learn({ place, sinceMs, error }: Outcome, options: SourceSearchOptions): void {
  const { clock, places, refusals } = options
  if (error instanceof NodeRefused) return refusals.begin(place.url)
  if (!(error instanceof TransportError) || error instanceof NoRoom) return
  const isTakenBackEarly = error.fault === 'aborted' && clock.nowMs() - sinceMs < patienceMs
  if (!isTakenBackEarly) places.rest(place)
}

function noneOf(hasAsked: boolean): RelayError {
  return hasAsked
    ? new RelayError(errorKinds.upstreamFailed, 'every upstream failed to subscribe')
    : new RelayError(
        errorKinds.noUpstream,
        'no upstream has a WebSocket URL that can be subscribed at now',
      )
}
