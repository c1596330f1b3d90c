// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from './cancellation.ts'
import type { Clock } from './clock.ts'

/**
 * Bounds something that takes a signal: its own is aborted with the signal of who waits for it, and
 * when its time is over. Whoever makes one ends it, which lets go of both.
 */
export class TimeLimit {
  readonly #clock: Clock
  readonly #outer: CancelSignal
  readonly #abort = new AbortController()
  readonly #takeBack = () => {
    this.#abort.abort()
  }
  #cancel = () => {}
  #hasEnded = false
  #spentMs: number | null = null

  /** @param budgetMs null: no limit until `allow` sets one */
  constructor(clock: Clock, outer: CancelSignal, budgetMs: number | null = null) {
    this.#clock = clock
    this.#outer = outer
    if (outer.aborted) this.#takeBack()
    else outer.addEventListener('abort', this.#takeBack, { once: true })
    if (budgetMs !== null) this.allow(budgetMs)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The time that was allowed, in milliseconds, when it is over; null as long as it is not. */
  get spentMs(): number | null {
    return this.#spentMs
  }

  /**
   * Allows so much time from now on, instead of what was left; `Infinity` for as long as it takes.
   * @param instead called when it is over, instead of an end
   */
  allow(budgetMs: number, instead: (() => void) | null = null): void {
    this.#cancel()
    if (this.#hasEnded || this.#abort.signal.aborted || budgetMs === Infinity) return
    this.#cancel = this.#clock.after(budgetMs, () => {
      if (instead) return instead()
      this.#spentMs = budgetMs
      this.#takeBack()
    })
  }

  end(): void {
    this.#hasEnded = true
    this.#cancel()
    this.#outer.removeEventListener('abort', this.#takeBack)
  }
}
