// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Tier } from '../config/types.ts'
import type { UpstreamState } from './observer.ts'

/** One upstream as it stands at this moment. */
export interface UpstreamSnapshot {
  readonly name: string
  readonly tier: Tier
  readonly state: UpstreamState
  /** Calls that it is answering now. */
  readonly sessions: number
  /** Null while unknown, as are the others. */
  readonly latestBlock: number | null
  readonly lagBlocks: number | null
  /** Lag in blocks times the chain's block time. */
  readonly lagSeconds: number | null
  /** Weight in the selection relative to the best of the pool, in [0, 1]. */
  readonly score: number | null
}

/** A pool as it stands at this moment: for metrics and health. */
export interface PoolSnapshot {
  /** The chain's corroborated latest block; null while unknown. */
  readonly tip: number | null
  readonly upstreams: readonly UpstreamSnapshot[]
}
