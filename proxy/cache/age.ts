// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../chain/finality.ts'
import type { Classification } from '../chain/types.ts'
import type { AgeClass } from '../config/types.ts'
import type { CacheWhy } from '../relay/call.ts'

/** Why a call has nothing to do with the cache, whatever the tip is; null for one that has. */
export function whyNever(asked: Classification): CacheWhy | null {
  const { known, kind, cacheable, stateful, waitsForBlock, block, deterministic, byHash } = asked
  if (kind === 'write') return 'write'
  if (!known || kind !== 'read' || !cacheable || stateful !== null || waitsForBlock) return 'method'
  if (isPending(block)) return 'pending'
  return block.kind === 'none' && !byHash && !deterministic ? 'block-unknown' : null
}

function isPending(point: Classification['block']): boolean {
  if (point.kind === 'range') return isPending(point.from) || isPending(point.to)
  return point.kind === 'tag' && point.tag === 'pending'
}

/**
 * How long the answer to a call stays true. That of a call by hash is near the head until its answer shows otherwise.
 * @returns null where that depends on the tip, and the tip is unknown
 */
export function ageClassOf(
  { block, byHash }: Classification,
  tip: number | null,
  distance: number,
): AgeClass | null {
  if (block.kind === 'none') return byHash ? 'near-head' : 'finalized'
  if (block.kind === 'hash') return 'near-head'
  const last = lastPoint(block)
  if (last === null) return 'latest'
  if (last === 0) return 'finalized'
  return tip === null ? null : ageOfBlock(last, tip, distance)
}

export function ageOfBlock(block: number, tip: number, distance: number): AgeClass {
  return block <= tip - distance ? 'finalized' : 'near-head'
}
