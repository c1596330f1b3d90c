// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { DataKind } from '../chain/types.ts'
import type { Tier } from '../config/types.ts'

/**
 * What an upstream can be asked now, from the best to the worst. `held-off`: every URL of it is in
 * cooldown; `lagging`: it serves all but the newest blocks.
 */
export const upstreamStates = [
  'eligible',
  'lagging',
  'held-off',
  'unverified',
  'disabled',
  'rejected',
] as const
export type UpstreamState = (typeof upstreamStates)[number]

/**
 * Whether an upstream in this state answers calls. A lagging one does: it has all but the newest
 * blocks.
 */
export function isServing(state: UpstreamState): boolean {
  return state === 'eligible' || state === 'lagging'
}

/** The state of an upstream, since when, and why. The upstream keeps it; pages, metrics and logs print it. Times are ISO 8601. */
export interface StateRecord {
  readonly state: UpstreamState
  /** When the state began. A bad state that returns within a minute has lasted since it first began. */
  readonly since: string
  /** What is wrong with it, even if it serves; null if nothing is known to be. */
  readonly why: string | null
  /** When the state ends at the latest; null if that depends on the node alone. */
  readonly until: string | null
}

/** One upstream at one instant. */
export interface UpstreamSnapshot extends StateRecord {
  readonly name: string
  readonly tier: Tier
  /** What is wrong with it although it serves: `... (stalled: 5) since 13:15:07`; null: nothing lately. */
  readonly fault: string | null
  /** Attempts in flight. */
  readonly sessions: number
  /** Null where unknown, as are the other nulls. */
  readonly latestBlock: number | null
  /** Behind the chain's tip; 0 at the tip or before it. */
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  /** The oldest block that it has, per kind of data; unknown kinds are absent. */
  readonly oldestBlocks: Readonly<Partial<Record<DataKind, number>>>
  /** How many of its URLs are in cooldown, those for subscriptions among them. */
  readonly urlsInCooldown: number
  /** Until the first of these may be asked again; null where there is none. */
  readonly cooldownLeftMs: number | null
  /** Of its answers lately. */
  readonly latencyMs: number | null
  /** In [0, 1], as the selection uses it; null of one that may not serve yet. */
  readonly score: number | null
}

/** The pool of one chain and interface at one instant: what health and metrics are made from. */
export interface PoolSnapshot {
  /** The chain's corroborated latest block; null while it is unknown. */
  readonly tip: number | null
  /** Since it last rose; null while nothing is known. */
  readonly tipAgeMs: number | null
  /** The usual time between two blocks. */
  readonly blockTimeMs: number
  readonly upstreams: readonly UpstreamSnapshot[]
}

/** Observes the upstreams of one chain and interface; metrics and logs are made from it. */
export interface PoolObserver {
  /**
   * A state other than `held-off` began: `cooldownBegan` covers that one.
   * @param to if eligible, `why` says what ended the last state
   */
  stateChanged(upstream: string, from: UpstreamState, to: StateRecord): void
  /** Nothing is sent to a URL for a while, after what its node answered. `url` is printable. */
  cooldownBegan(upstream: string, url: string, forMs: number, why: string): void
  /** The router sends a request of its own. */
  probeSent?(upstream: string): void
  verificationFailed(upstream: string, url: string, verification: string, why: string): void
}
