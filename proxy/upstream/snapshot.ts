// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Tier } from '../config/types.ts'
import type { UpstreamState } from './observer.ts'

/** One upstream at one instant. */
export interface UpstreamSnapshot {
  readonly name: string
  readonly tier: Tier
  readonly state: UpstreamState
  /** Attempts in flight. */
  readonly sessions: number
  /** Null where unknown, as are the other nulls. */
  readonly latestBlock: number | null
  /** Behind the chain's tip; 0 at the tip or before it. */
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  /** How many of its URLs are left alone, those for subscriptions among them. */
  readonly urlsInCooldown: number
  /** In [0, 1], as the selection uses it; null of one that may not serve yet. */
  readonly score: number | null
}

/** The pool of one chain and interface at one instant: what health and metrics are told from. */
export interface PoolSnapshot {
  /** The chain's corroborated latest block; null while it is unknown. */
  readonly tip: number | null
  readonly upstreams: readonly UpstreamSnapshot[]
}

/**
 * Whether an upstream in this state answers calls. A lagging one does: it has all but the newest
 * blocks.
 */
export function isServing(state: UpstreamState): boolean {
  return state === 'eligible' || state === 'lagging'
}
