// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef, Chain } from './types.ts'

/**
 * Age at which a block is final on chains with a finality tag. Some rollups are proven later, but
 * no known chain replaces older blocks.
 */
const finalAfterMs = 30 * 60_000
/** Minimum distance between a final block and the tip, on chains with a finality tag. */
const minFinalBlocks = 128

/** A node may not have indexed blocks this recent yet. */
export const indexingBlocks = 128

type Finality = Pick<Chain, 'finality' | 'blockTimeMs'>

/** Distance from the tip at which a block is final. */
export function finalDistance({ finality, blockTimeMs }: Finality): number {
  if (typeof finality === 'number') return finality
  return Math.max(minFinalBlocks, Math.ceil(finalAfterMs / blockTimeMs))
}

/**
 * Whether the state that a call asks about can no longer change. Tags move, so they never qualify.
 *
 * @param tip the latest block; null if unknown
 */
export function isFinal(block: BlockRef, tip: number | null, chain: Finality): boolean {
  const last = lastPoint(block)
  if (last === null || last === 0) return last === 0
  return tip !== null && last <= tip - finalDistance(chain)
}

/** The highest block that a call asks about; null if it moves with the chain or has no number. */
export function lastPoint(block: BlockRef): number | null {
  if (block.kind !== 'range') return heightOf(block)
  const [from, to] = [heightOf(block.from), heightOf(block.to)]
  return from === null || to === null ? null : Math.max(from, to)
}

/** The lowest numbered block that a call needs; null if none. Pruned nodes have block 0. */
export function firstPoint(block: BlockRef): number | null {
  if (block.kind === 'number') return block.number || null
  const from = block.kind === 'range' ? heightOf(block.from) : null
  return from === null ? null : Math.max(from, 1)
}

function heightOf(point: BlockPoint | { readonly kind: string }): number | null {
  if (point.kind === 'number') return (point as { number: number }).number
  return point.kind === 'tag' && (point as { tag: string }).tag === 'earliest' ? 0 : null
}
