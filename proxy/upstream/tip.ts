// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What one upstream said of the chain's latest block. */
export interface Sighting {
  readonly block: number
  /** On the clock's monotonic scale. */
  readonly atMs: number
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
 * @param blocks the latest block of each recently seen upstream
 * @returns null when nothing is known
 */
export function corroboratedTip(
  blocks: readonly number[],
  allowedLagBlocks: number,
): number | null {
  const descending = blocks.toSorted((a, b) => b - a)
  const wanted = witnessesWanted(descending.length)
  // The witnesses of a block are those before it in the order, and those close behind it.
  for (const [at, block] of descending.entries()) {
    const behind = descending.findIndex((other) => other < block - allowedLagBlocks)
    const witnesses = behind === -1 ? descending.length : behind
    if (witnesses >= wanted || at === descending.length - 1) return block
  }
  return null
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
