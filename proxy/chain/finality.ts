// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef, Chain } from './types.ts'

/** Where a chain says which blocks are final by a tag, blocks of this age are. No known chain takes longer. */
const finalAfterMs = 30 * 60_000
/** A finalized block is at least so many blocks old, where its age is not counted in blocks. */
const minFinalBlocks = 128

type Finality = Pick<Chain, 'finality' | 'blockTimeMs'>

/** How many blocks behind the tip a block is final. */
export function finalDistance({ finality, blockTimeMs }: Finality): number {
  if (typeof finality === 'number') return finality
  return Math.max(minFinalBlocks, Math.ceil(finalAfterMs / blockTimeMs))
}

/**
 * What a call is about never changes. A tag moves: nodes differ about which block is the finalized one.
 *
 * @param tip the latest block; null while it is unknown
 */
export function isFinal(block: BlockRef, tip: number | null, chain: Finality): boolean {
  const last = lastPoint(block)
  if (last === null || last === 0) return last === 0
  return tip !== null && last <= tip - finalDistance(chain)
}

/** The highest block that a call asks about; null where that moves with the chain, or is none by number. */
export function lastPoint(block: BlockRef): number | null {
  if (block.kind !== 'range') return heightOf(block)
  const [from, to] = [heightOf(block.from), heightOf(block.to)]
  return from === null || to === null ? null : Math.max(from, to)
}

/** The first numbered block that a call needs; null if there is none. Pruned nodes keep block 0. */
export function firstPoint(block: BlockRef): number | null {
  if (block.kind === 'number') return block.number || null
  const from = block.kind === 'range' ? heightOf(block.from) : null
  return from === null ? null : Math.max(from, 1)
}

function heightOf(point: BlockPoint | { readonly kind: string }): number | null {
  if (point.kind === 'number') return (point as { number: number }).number
  return point.kind === 'tag' && (point as { tag: string }).tag === 'earliest' ? 0 : null
}
