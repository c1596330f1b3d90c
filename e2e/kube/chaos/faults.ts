// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../../../operator/kube/clock.ts'

/** What a request is to the chaos proxy. */
export type RequestKind = 'list' | 'watch' | 'get' | 'write'

/** What goes wrong with one request that has an end. */
export type AnswerFault =
  /** The server is not asked; it refuses. */
  | {
      readonly do: 'refuse'
      readonly status: number
      readonly reason: string
      readonly retryAfterSeconds?: number
    }
  /** The connection breaks before the server hears of it. */
  | { readonly do: 'cut-before' }
  /** The server does it, and the connection breaks before its answer. */
  | { readonly do: 'cut-after' }
  /** The connection breaks in the middle of the answer. */
  | { readonly do: 'cut-within' }
  /** Half of the answer, as if it were all. */
  | { readonly do: 'truncate' }
  | { readonly do: 'slow'; readonly delayMs: number }
  /** A watch begins where it began first: another API server, which lags, tells once more what is known already. */
  | { readonly do: 'rewind' }

/** What goes wrong inside of a watch, after so many events or so long, whatever comes first. */
export interface WatchFault {
  readonly do:
    /** The connection breaks. */
    | 'cut'
    /** The server ends the watch in order. */
    | 'end'
    /** An ERROR event: the version is too old. */
    | 'expired'
    /** An ERROR event: an internal error. */
    | 'failed'
    /** A bookmark for the version at which the watch began, and then a cut. */
    | 'stale-bookmark'
    /** Half of an event and a line end. */
    | 'broken-line'
    /** Half of an event and the end of the stream. */
    | 'half-line'
    /** Nothing more comes, and the connection stays. */
    | 'silence'
    /** The last event comes twice, and then what follows. */
    | 'twice'
  readonly afterEvents: number
  readonly afterMs: number
}

/** What the proxy does to a request; null lets it pass. */
export interface FaultSource {
  answer(kind: RequestKind): AnswerFault | null
  watch(): WatchFault | null
}

/** How likely a request is to be disturbed, of 1. */
const answerRate = 0.35
const watchRate = 0.9

const watchFaults = [
  'cut',
  'cut',
  'end',
  'expired',
  'expired',
  'failed',
  'stale-bookmark',
  'broken-line',
  'half-line',
  'silence',
  'twice',
] as const

/** Faults as a seed draws them: the next request gets the next of them. */
export function drawnFaults(random: Random): FaultSource {
  const below = (most: number) => Math.floor(random.next() * most)
  const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T
  return {
    answer(kind) {
      if (random.next() >= answerRate) return null
      const any: AnswerFault[] = [
        { do: 'refuse', status: 500, reason: 'InternalError' },
        { do: 'refuse', status: 503, reason: 'ServiceUnavailable' },
        { do: 'refuse', status: 429, reason: 'TooManyRequests', retryAfterSeconds: below(2) },
        { do: 'cut-before' },
        { do: 'cut-after' },
        { do: 'cut-within' },
        { do: 'truncate' },
        { do: 'slow', delayMs: below(200) },
      ]
      // A token that is being rotated.
      any.push({ do: 'refuse', status: 401, reason: 'Unauthorized' })
      if (kind === 'write')
        any.push(
          { do: 'refuse', status: 409, reason: 'Conflict' },
          // A quota that is used up, or a webhook that denies.
          { do: 'refuse', status: 403, reason: 'Forbidden' },
        )
      if (kind === 'list' || kind === 'watch')
        any.push(
          { do: 'refuse', status: 410, reason: 'Expired' },
          // A kind that is being replaced.
          { do: 'refuse', status: 404, reason: 'NotFound' },
        )
      if (kind === 'watch') any.push({ do: 'rewind' })
      return pick(any)
    },
    watch() {
      if (random.next() >= watchRate) return null
      return { do: pick(watchFaults), afterEvents: 1 + below(4), afterMs: 20 + below(300) }
    },
  }
}

/** No faults. */
export const noFaults: FaultSource = { answer: () => null, watch: () => null }
