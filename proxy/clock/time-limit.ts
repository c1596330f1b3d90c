// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from './cancellation.ts'
import type { Cancel, Clock } from './clock.ts'

/**
 * Bounds something that takes a signal: its own is aborted with the signal of who waits for it, and
 * when its time is over. Whoever makes one ends it, which lets go of both.
 */
export class TimeLimit {
  readonly #outer: CancelSignal
  readonly #abort = new AbortController()
  readonly #takeBack = () => {
    this.#abort.abort()
  }
  readonly #cancel: Cancel
  #spentMs: number | null = null

  constructor(clock: Clock, outer: CancelSignal, budgetMs: number) {
    this.#outer = outer
    this.#cancel = clock.after(budgetMs, () => {
      this.#spentMs = budgetMs
      this.#takeBack()
    })
    if (outer.aborted) this.#takeBack()
    else outer.addEventListener('abort', this.#takeBack, { once: true })
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The time that was allowed, in milliseconds, when it is over; null as long as it is not. */
  get spentMs(): number | null {
    return this.#spentMs
  }

  end(): void {
    this.#cancel()
    this.#outer.removeEventListener('abort', this.#takeBack)
  }
}
