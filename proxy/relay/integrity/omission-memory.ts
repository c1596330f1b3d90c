// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** So many that leave something out are believed, where nobody ever showed it. */
const enough = 2

/**
 * Whether a chain has something at all that nearly every chain has. Once somebody has shown it, the
 * chain has it, and who leaves it out is doubted for ever.
 */
export class OmissionMemory {
  #isShown = false
  readonly #without = new Set<string>()

  shown(): void {
    this.#isShown = true
  }

  /** @returns whether it is left out by whoever there is, as far as is known */
  leftOut(teller: string): boolean {
    if (this.#isShown) return false
    if (this.#without.size < enough) this.#without.add(teller)
    return this.#without.size >= enough
  }
}
