// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../../../operator/kube/clock.ts'
import { watchFaults, type WatchFault } from './watch.ts'

/** The kinds of requests that the chaos proxy distinguishes. */
export type RequestKind = 'list' | 'watch' | 'get' | 'write'

/** The fault of a request other than a watch. */
export type AnswerFault =
  /** The proxy refuses the request. */
  | {
      readonly do: 'refuse'
      readonly status: number
      readonly reason: string
      readonly retryAfterSeconds?: number
    }
  /** The connection breaks before the server gets the request. */
  | { readonly do: 'cut-before' }
  /** The server executes the request, and the connection breaks before its answer. */
  | { readonly do: 'cut-after' }
  /** The connection breaks in the middle of the answer. */
  | { readonly do: 'cut-within' }
  /** The proxy sends half of the answer as a whole answer. */
  | { readonly do: 'truncate' }
  | { readonly do: 'slow'; readonly delayMs: number }
  /** The watch starts at its first version, like a lagging API server that repeats known events. */
  | { readonly do: 'rewind' }

/** Returns the fault for a request, or null for none. */
export interface FaultSource {
  answer(kind: RequestKind): AnswerFault | null
  watch(): WatchFault | null
}

export const noFaults: FaultSource = { answer: () => null, watch: () => null }

const answerRate = 0.35
const watchRate = 0.9

const ofAll: readonly AnswerFault[] = [
  { do: 'refuse', status: 500, reason: 'InternalError' },
  { do: 'refuse', status: 503, reason: 'ServiceUnavailable' },
  { do: 'refuse', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 0 },
  { do: 'refuse', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
  // Simulates the rotation of a token.
  { do: 'refuse', status: 401, reason: 'Unauthorized' },
  { do: 'cut-before' },
  { do: 'cut-after' },
  { do: 'cut-within' },
  { do: 'truncate' },
  { do: 'slow', delayMs: 100 },
]
const ofLists: readonly AnswerFault[] = [
  ...ofAll,
  { do: 'refuse', status: 410, reason: 'Expired' },
  // Simulates the replacement of a kind.
  { do: 'refuse', status: 404, reason: 'NotFound' },
]
const answerFaults: Readonly<Record<RequestKind, readonly AnswerFault[]>> = {
  get: ofAll,
  list: ofLists,
  watch: [...ofLists, { do: 'rewind' }],
  write: [
    ...ofAll,
    { do: 'refuse', status: 409, reason: 'Conflict' },
    // Simulates an exhausted quota, or a webhook that denies.
    { do: 'refuse', status: 403, reason: 'Forbidden' },
  ],
}

/** Faults from a seed: each request gets the next draw. */
export function drawnFaults(random: Random): FaultSource {
  const below = (most: number) => Math.floor(random.next() * most)
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T
  const kinds = Object.keys(watchFaults) as WatchFault['do'][]
  return {
    answer: (kind) => (random.next() < answerRate ? pick(answerFaults[kind]) : null),
    watch: () =>
      random.next() < watchRate
        ? { do: pick(kinds), afterEvents: 1 + below(4), afterMs: 20 + below(300) }
        : null,
  }
}
