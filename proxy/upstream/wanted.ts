// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef } from '../chain/types.ts'

/** What an attempt needs of an upstream. */
export interface Wanted {
  /** Add-ons and extensions that the upstream must declare. */
  readonly addons: readonly string[]
  readonly block: BlockRef
  /** About one thing named by its hash, which may be as new as the newest block. */
  readonly byHash: boolean
  readonly cost: number
  /** Asked for by name: taken whenever it can serve at all. */
  readonly prefer: string | null
  /** Never these. */
  readonly excluded: readonly string[]
  /** Already asked on behalf of this call: only again when no other is left. */
  tried(upstream: string): boolean
  /** It lied to this call, or failed it by more than a hiccup: no reason any more to pass over one that lags. */
  gaveUpOn(upstream: string): boolean
  /** It lied to this call: what it says of its head is not believed either. */
  lied(upstream: string): boolean
  /** Rather none than one that was asked already. */
  readonly untriedOnly: boolean
}

/** About the latest state, or about what its hash names and may be as new. */
export function isAboutTip({ block, byHash }: Pick<Wanted, 'block' | 'byHash'>): boolean {
  const point = lastPointOf(block)
  if (point?.kind === 'tag') return point.tag !== 'earliest'
  return isByHash({ block, byHash })
}

/** The highest block that the call needs; null when it needs none. */
export function lastPointOf(block: BlockRef): BlockPoint | null {
  if (block.kind === 'range') return block.to
  return block.kind === 'none' || block.kind === 'invalid' ? null : block
}

/** About what its hash names: it may be new, or so old that all have it. */
export function isByHash({ block, byHash }: Pick<Wanted, 'block' | 'byHash'>): boolean {
  const point = lastPointOf(block)
  return point?.kind === 'hash' || (point === null && byHash)
}
