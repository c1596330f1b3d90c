// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pace } from './lone-head.ts'
import type { Sighting } from './tip.ts'

/**
 * It is measured over so many times the blocks that heads may differ by: over fewer, who leads or falls
 * back a little would look like another pace.
 */
const leastLags = 4
/** A chain may be so many times faster than its spec says. */
const fastest = 50

/** A pace that was seen, and how much faster the chain may be at the very most. */
export interface BoundedPace extends Pace {
  readonly leastBlockTimeMs: number
}

/**
 * How long a block of a chain takes: as its spec says, or less where the agreed tip was seen to grow
 * faster. One that grows slower may go on at its usual pace at any time.
 */
export class SeenPace {
  readonly #mostBlockTimeMs: number
  #value: BoundedPace
  #since: Sighting | null = null

  constructor({ allowedLagBlocks, blockTimeMs }: Pace) {
    this.#mostBlockTimeMs = blockTimeMs
    this.#value = { allowedLagBlocks, blockTimeMs, leastBlockTimeMs: blockTimeMs / fastest }
  }

  get value(): BoundedPace {
    return this.#value
  }

  /** The upstreams agree on this tip. */
  agreed(tip: Sighting): void {
    const since = this.#since
    // A chain that went back is measured from there.
    if (since === null || tip.block < since.block) {
      this.#since = tip
      return
    }
    const blocks = tip.block - since.block
    const { allowedLagBlocks, leastBlockTimeMs } = this.#value
    if (blocks < leastLags * (allowedLagBlocks + 1)) return
    const seenMs = (tip.atMs - since.atMs) / blocks
    const blockTimeMs = Math.min(Math.max(seenMs, leastBlockTimeMs), this.#mostBlockTimeMs)
    this.#value = { ...this.#value, blockTimeMs }
    this.#since = tip
  }
}
