// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What one client was told of a chain, compared with the chain. */
export interface HeardSum {
  readonly heads: number
  /** Blocks between the first one and the chain's head that were not told. */
  readonly missed: number
  /** Told again, or after a higher one. */
  readonly doubled: number
  /** Told with a hash that the block does not have. */
  readonly wrong: number
}

export const nothingHeard: HeardSum = { heads: 0, missed: 0, doubled: 0, wrong: 0 }

interface Heard {
  readonly height: number
  /** Null when the client does not pass it on. */
  readonly hash: string | null
}

/** The blocks that one subscription told of, in order. The chain has no reorganisations. */
export class HeardHeads {
  readonly #heard: Heard[] = []
  #highest = 0

  get highest(): number {
    return this.#highest
  }

  add(height: number, hash: string | null): void {
    this.#heard.push({ height, hash })
    this.#highest = Math.max(this.#highest, height)
  }

  /** All that was heard of a chain which has so many blocks. */
  sum(head: number, hashOf: (height: number) => string): HeardSum {
    const sum: { -readonly [Figure in keyof HeardSum]: number } = { ...nothingHeard }
    const known = new Set<number>()
    let highest = 0
    for (const { height, hash } of this.#heard) {
      // The first node that has a block may tell before the chain is said to have it.
      if (height > head) continue
      sum.heads++
      if (height <= highest) sum.doubled++
      if (hash !== null && hash !== hashOf(height)) sum.wrong++
      highest = Math.max(highest, height)
      known.add(height)
    }
    const first = this.#heard[0]?.height ?? 1
    return { ...sum, missed: head - first + 1 - known.size }
  }
}

/** What was heard between two sums. */
export function since(before: HeardSum, now: HeardSum): HeardSum {
  return combined(now, before, (later, earlier) => later - earlier)
}

/** The sums of several clients as one. */
export function together(sums: readonly HeardSum[]): HeardSum {
  const add = (one: number, other: number) => one + other
  return sums.reduce((whole, each) => combined(whole, each, add), nothingHeard)
}

function combined(
  one: HeardSum,
  other: HeardSum,
  combine: (one: number, other: number) => number,
): HeardSum {
  const figure = (name: keyof HeardSum) => combine(one[name], other[name])
  return {
    ...{ heads: figure('heads'), missed: figure('missed') },
    ...{ doubled: figure('doubled'), wrong: figure('wrong') },
  }
}
