// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Who keeps bytes that it can do without. */
export interface Keeper {
  readonly keptBytes: number
  /** Lets the oldest go, of which there is one as long as `keptBytes` is above 0. */
  forgetOldest(): void
}

/** Bounds what many keep together: who keeps the most lets go first. */
export class KeptBytes {
  readonly #most: number
  readonly #keepers = new Set<Keeper>()

  constructor(most: number) {
    this.#most = most
  }

  join(keeper: Keeper): void {
    this.#keepers.add(keeper)
  }

  leave(keeper: Keeper): void {
    this.#keepers.delete(keeper)
  }

  /** Somebody keeps more than before. */
  grown(): void {
    let sum = 0
    for (const { keptBytes } of this.#keepers) sum += keptBytes
    while (sum > this.#most) {
      const largest = [...this.#keepers].reduce((a, b) => (b.keptBytes > a.keptBytes ? b : a))
      sum -= largest.keptBytes
      largest.forgetOldest()
      sum += largest.keptBytes
    }
  }
}
