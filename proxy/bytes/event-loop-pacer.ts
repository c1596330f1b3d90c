// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { budgetLimits } from './limits.ts'

/**
 * Long work takes turns, so that short calls are served in between: when as much was begun in a turn of the
 * event loop as is good, the rest waits for the next ones.
 */
export class EventLoopPacer {
  /** Of the turn, once something was begun in it. */
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

  /** Runs it at once, or in a later turn. @returns takes it back, if it still waits */
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
   * Runs short work behind all that the sockets bring in this turn, one after the other: code that is run many times on
   * end stays in the caches of the CPU, and costs half as much as between reads and writes of sockets.
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
