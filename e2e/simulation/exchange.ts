// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { LieKind } from './lies.ts'
import type { Illness } from './schedule.ts'

/** What a URL did with a request, as the simulation decided and not as the engine saw it. */
export type Fate =
  | { readonly kind: 'honest' }
  | { readonly kind: 'lie'; readonly lie: LieKind }
  /** Ill in another way. */
  | { readonly kind: 'ill'; readonly illness: Exclude<Illness['kind'], 'lie'> }

/** One request that the engine sent to one URL. */
export interface Exchange {
  readonly place: Place
  /** The client's call; null for the router's own probes. */
  readonly callId: string | null
  readonly method: string
  readonly sentMs: number
  fate: Fate
  /** When its answer would be there; null: never. */
  readonly dueMs: number | null
  /** The node's newest block when it was asked. */
  readonly head: number
  /** It asks to be left alone for so long; null: it does not. */
  readonly limitMs: number | null
  /** What it sends is an error, honest or not. */
  readonly saysError: boolean
  /** Null while it is under way. */
  endedMs: number | null
  /** The router took it back. */
  isTakenBack: boolean
}

/** One URL of one upstream. */
export interface Place {
  readonly upstream: string
  readonly url: number
  /** What the engine prints of the URL. */
  readonly printable: string
}

/** Hears what goes over the wire. */
export interface WireObserver {
  sent(exchange: Exchange): void
  ended(exchange: Exchange): void
}
