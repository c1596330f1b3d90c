// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Sighting } from '../../proxy/upstream/tip.ts'
import type { Upstream } from '../../proxy/upstream/upstream.ts'
import type { Arena } from './arena.ts'

/** Nobody knows the tip by what was told longer ago. */
export const memoryMs = 60_000

/** Who was caught in a lie has no say about the tip for so long. */
const lieMemoryMs = 600_000

/** What is known of heads at one moment: worked out once for all who watch. */
export interface Heard {
  readonly nowMs: number
  /** What the engine takes for the tip. */
  readonly tip: number | null
  /** Upstreams in service that told their head lately. */
  readonly upstreams: readonly Upstream[]
  /** The tip by what these told, worked out apart from the engine. */
  readonly witnessed: number | null
}

export function hear({ pool, clock, allowedLagBlocks, caughtMs }: Arena): Heard {
  const nowMs = clock.nowMs()
  const speaking = pool.upstreams.filter(
    ({ latest, availability }) =>
      latest !== null && latest.atMs >= nowMs - memoryMs && availability.standing === 'eligible',
  )
  const honest = speaking.filter(({ name }) => !(nowMs - caughtMs.get(name)! < lieMemoryMs))
  const upstreams = honest.length > 0 ? honest : speaking
  const heads = upstreams.map(({ latest }) => latest!)
  const { blockTimeMs } = pool.pace
  return { nowMs, tip: pool.tip, upstreams, witnessed: tipOf(heads, allowedLagBlocks, blockTimeMs) }
}

/**
 * The tip as the documentation has it: the highest head that two upstreams are within the allowed
 * lag of, or the only one that there is. Who told its head later must be nearer by the blocks since.
 */
function tipOf(
  heads: readonly Sighting[],
  allowedLagBlocks: number,
  blockTimeMs: number,
): number | null {
  const wanted = heads.length > 1 ? 2 : 1
  let tip: number | null = null
  for (const { block, atMs } of heads) {
    if (tip !== null && block <= tip) continue
    let witnesses = 0
    for (const other of heads) {
      const since = other.atMs > atMs ? Math.ceil((other.atMs - atMs) / blockTimeMs) : 0
      if (other.block >= block || other.block - block >= since - allowedLagBlocks) witnesses += 1
    }
    if (witnesses >= wanted) tip = block
  }
  return tip
}
