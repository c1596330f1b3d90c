// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Share of the reads that may be asked a second time. */
const share = 0.1
/** How many unused hedges are saved up for a bad moment. */
const mostSaved = 10

/** Keeps the extra calls of hedging within a tenth of the reads. */
export class HedgeBudget {
  #saved = 0

  /** A read came in. */
  earn(): void {
    this.#saved = Math.min(this.#saved + share, mostSaved)
  }

  /** @returns whether one more extra call may be made */
  spend(): boolean {
    // Ten times a tenth is a little less than one in binary.
    if (this.#saved < 1 - 1e-9) return false
    this.#saved -= 1
    return true
  }

  /** The extra call was not made after all. */
  refund(): void {
    this.#saved = Math.min(this.#saved + 1, mostSaved)
  }
}
