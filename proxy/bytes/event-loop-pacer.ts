// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { budgetLimits } from './limits.ts'

/**
 * Spreads long work over event-loop turns, so that short calls run in between. Once a turn has
 * begun enough work, the rest waits for later turns.
 */
export class EventLoopPacer {
  /** Number of the current turn. Increments when work begins in a new turn. */
  number = 0
  readonly #turnBytes: number
  #leftBytes: number
  #isCounting = false
  #short: (() => void)[] = []
  readonly #waiting = new Set<{ readonly bytes: number; readonly run: () => void }>()

  /** @param turnBytes Infinity: nothing waits, as in virtual time, which has no turns */
  constructor(turnBytes: number = budgetLimits.turnBytes) {
    this.#turnBytes = turnBytes
    this.#leftBytes = turnBytes
  }

  /** Runs work now or in a later turn. @returns cancels it while it is waiting */
  run(bytes: number, run: () => void): () => void {
    if (this.#leftBytes > 0 && this.#waiting.size === 0) {
      this.spend(bytes)
      run()
      return () => {}
    }
    const one = { bytes, run }
    this.#waiting.add(one)
    this.spend(0)
    return () => this.#waiting.delete(one)
  }

  /**
   * Runs short work in one batch after all socket events of this turn. Code that runs repeatedly
   * stays in the CPU caches, and costs half as much as between socket reads and writes.
   */
  together(run: () => void): void {
    if (this.#short.push(run) === 1) setImmediate(this.#runShort)
  }

  readonly #runShort = (): void => {
    const short = this.#short
    this.#short = []
    for (const run of short) run()
  }

  /** @returns whether this turn has room for more */
  spend(bytes: number): boolean {
    if (!this.#isCounting) setImmediate(this.#next)
    this.#isCounting = true
    this.#leftBytes -= bytes
    return this.#leftBytes > 0
  }

  readonly #next = (): void => {
    this.#leftBytes = this.#turnBytes
    this.#isCounting = false
    this.number += 1
    for (const next of this.#waiting) {
      if (this.#leftBytes <= 0) return
      this.#waiting.delete(next)
      this.spend(next.bytes)
      next.run()
    }
  }
}
