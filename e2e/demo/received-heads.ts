// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Counts of the heads that one client received, compared with the chain. */
export interface HeadCounts {
  readonly heads: number
  /** Number of missing blocks between the first block and the chain's head. */
  readonly missed: number
  /** Number of heads received twice, or after a higher head. */
  readonly doubled: number
  /** Number of heads with a wrong hash. */
  readonly wrong: number
}

interface ReceivedHead {
  readonly height: number
  /** Null if the client does not expose it. */
  readonly hash: string | null
}

/** The blocks that one subscription received, in order. The chain has no reorganisations. */
export class ReceivedHeads {
  readonly #received: ReceivedHead[] = []
  #highest = 0

  get highest(): number {
    return this.#highest
  }

  add(height: number, hash: string | null): void {
    this.#received.push({ height, hash })
    this.#highest = Math.max(this.#highest, height)
  }

  /** @param head height of the chain */
  sum(head: number, hashOf: (height: number) => string): HeadCounts {
    const sum = { heads: 0, doubled: 0, wrong: 0 }
    const known = new Set<number>()
    let highest = 0
    for (const { height, hash } of this.#received) {
      // The first node with a block may report it before the chain's head moves.
      if (height > head) continue
      sum.heads++
      if (height <= highest) sum.doubled++
      if (hash !== null && hash !== hashOf(height)) sum.wrong++
      highest = Math.max(highest, height)
      known.add(height)
    }
    const first = this.#received[0]?.height ?? 1
    return { ...sum, missed: head - first + 1 - known.size }
  }
}
