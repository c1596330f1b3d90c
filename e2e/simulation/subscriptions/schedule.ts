// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainPlan, Span, UrlPlan } from '../schedule.ts'

/* What happens to the subscriptions of one seed from outside of the engine, as plain data. */

export interface SubscriptionSchedule {
  readonly seed: number
  readonly durationMs: number
  readonly maxGapBlocks: number
  readonly stallBlocks: number
  readonly chain: ChainPlan
  readonly nodes: readonly SubscriptionNodePlan[]
  readonly clients: readonly ClientPlan[]
}

export interface SubscriptionNodePlan {
  readonly name: string
  readonly http: UrlPlan
  /** While one lasts, the node stays on the branch that it was on, which grows on. */
  readonly forks: readonly Span[]
  /** Null: it has no WebSocket URL. */
  readonly socket: SocketPlan | null
}

export interface SocketPlan {
  readonly lagBlocks: number
  /** From the node to the router. */
  readonly delayMs: number
  readonly ailments: readonly SocketAilment[]
}

export type SocketAilment = Span & SocketIllness

export type SocketIllness =
  /** Connections are cut when it begins, and refused while it lasts. */
  | { readonly kind: 'down' }
  /** What was subscribed to is silent. */
  | { readonly kind: 'stall' }
  /** A request to subscribe is never answered. */
  | { readonly kind: 'mute' }
  /** A request to subscribe is refused. */
  | { readonly kind: 'refuse'; readonly code: number; readonly message: string }
  | { readonly kind: 'lag'; readonly blocks: number }
  /** A share of the events is told twice. */
  | { readonly kind: 'duplicate'; readonly share: number }
  /** A share of the events is late, and so comes behind others. */
  | { readonly kind: 'disorder'; readonly share: number; readonly lateMs: number }
  /** A share of the events never comes. */
  | { readonly kind: 'drop'; readonly share: number }
  /** Beside the events, a head is told that is up to so many blocks older. */
  | { readonly kind: 'repeat'; readonly blocks: number }
  /** Beside the events, heads are told that there are not. */
  | { readonly kind: 'lie'; readonly lie: 'orphan' | 'far-ahead' | 'garbage' }

export interface ClientPlan {
  readonly atMs: number
  /** Null: it stays to the end. */
  readonly leavesAfterMs: number | null
  /** Params of `eth_subscribe`. */
  readonly params: readonly unknown[]
}
