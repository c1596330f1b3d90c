// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What one upstream said of the chain's latest block. */
export interface Sighting {
  readonly block: number
  /** On the clock's monotonic scale. */
  readonly atMs: number
}

/** How a chain grows, and how far behind its tip an upstream may be. */
export interface Pace {
  readonly allowedLagBlocks: number
  readonly blockTimeMs: number
}

/** A block that was seen longer ago than this says nothing of the tip any more. */
export const sightingLifeMs = 60_000

/** How many of so many upstreams have to say the same: a majority, or two. */
export function witnessesWanted(upstreams: number): number {
  return Math.min(2, Math.floor(upstreams / 2) + 1)
}

/**
 * The chain's latest block, corroborated: the highest one that a majority of the upstreams, or two
 * of them, are within the allowed lag of. So one that runs ahead moves nothing, and one upstream
 * alone is believed.
 * @param told the latest block of each recently seen upstream
 * @returns null when nothing is known
 */
export function corroboratedTip(told: readonly Sighting[], pace: Pace): number | null {
  const wanted = witnessesWanted(told.length)
  let tip: number | null = null
  for (const head of told) {
    if (tip !== null && head.block <= tip) continue
    let witnesses = 0
    for (const other of told) if (isNear(other, head, pace)) witnesses += 1
    if (witnesses >= wanted) tip = head.block
  }
  return tip
}

/**
 * It is within the allowed lag of a head, which has grown since it was told if that was before: what
 * one claims a few blocks too early others reach later, and that is no agreement.
 */
function isNear(
  { block, atMs }: Sighting,
  head: Sighting,
  { allowedLagBlocks, blockTimeMs }: Pace,
): boolean {
  if (block >= head.block) return true
  const growth = mostBlocksBetween(head.atMs, atMs, blockTimeMs)
  return block >= head.block + growth - allowedLagBlocks
}

/** How many blocks may have come since, each time of one that has begun counted; 0 where it is not since. */
export function mostBlocksBetween(sinceMs: number, atMs: number, blockTimeMs: number): number {
  return Math.ceil(Math.max(0, atMs - sinceMs) / blockTimeMs)
}

/**
 * The highest block that was corroborated lately. The tip does not go back because a witness falls
 * silent; when the chain itself goes back, the memory follows after a sighting's life.
 */
export class TipMemory {
  #kept: Sighting | null = null

  /** @param tip the corroborated tip by what the upstreams say now */
  keep(tip: number, nowMs: number): void {
    if (this.#kept === null || tip >= this.#kept.block || this.#isOld(this.#kept, nowMs))
      this.#kept = { block: tip, atMs: nowMs }
  }

  /** @returns what was kept where it is above `told`, else `told` */
  recall(told: number | null, nowMs: number): number | null {
    const kept = this.#kept
    return kept === null || this.#isOld(kept, nowMs) ? told : Math.max(kept.block, told ?? 0)
  }

  #isOld({ atMs }: Sighting, nowMs: number): boolean {
    return nowMs - atMs > sightingLifeMs
  }
}
