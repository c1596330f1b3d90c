// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

/** Something that is due at a time, on the clock's monotonic scale, which may change. */
export interface Due {
  readonly dueMs: number
  /** Called when the time has come; it sets the next time, or has itself removed. */
  due(nowMs: number): void
}

/** Sums of fractions of milliseconds are not exact. */
const toleranceMs = 1e-6

/**
 * One timer for everything that waits. Most calls end long before anything is due: while others
 * wait, adding and removing one costs no timer, but a look at all each time the timer runs.
 */
export class DueTimes {
  readonly #clock: Clock
  readonly #waiting = new Set<Due>()
  #armedMs = Infinity
  #cancel: Cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds it, or notes that it is due at another time. */
  add(each: Due, nowMs: number): void {
    this.#waiting.add(each)
    this.#arm(each.dueMs, nowMs)
  }

  delete(each: Due): void {
    this.#waiting.delete(each)
    if (this.#waiting.size > 0) return
    this.#cancel()
    this.#armedMs = Infinity
  }

  #arm(dueMs: number, nowMs: number): void {
    if (dueMs >= this.#armedMs) return
    this.#cancel()
    this.#armedMs = dueMs
    this.#cancel = this.#clock.after(Math.max(dueMs - nowMs, 0), () => {
      this.#run()
    })
  }

  #run(): void {
    this.#armedMs = Infinity
    const nowMs = this.#clock.nowMs()
    for (const each of [...this.#waiting])
      if (each.dueMs <= nowMs + toleranceMs && this.#waiting.has(each))
        each.due(Math.max(nowMs, each.dueMs))
    let soonestMs = Infinity
    for (const { dueMs } of this.#waiting) soonestMs = Math.min(soonestMs, dueMs)
    this.#arm(soonestMs, nowMs)
  }
}
