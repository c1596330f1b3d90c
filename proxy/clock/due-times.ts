// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

/** Something that is due at a time, on the clock's monotonic scale, which may change. */
export interface Due {
  readonly dueMs: number
  /** Its index among those that wait; -1 while it does not. For `DueTimes` alone. */
  index: number
  /** Called when the time has come; it sets the next time, or has itself removed. */
  due(nowMs: number): void
}

/** Sums of fractions of milliseconds are not exact. */
const toleranceMs = 1e-6

/**
 * One timer for everything that waits. An array, since a `Set` leaves tables behind that keep what was in
 * them alive until a full collection: 5 ms of scavenging instead of 0.6. Most calls end long before anything is due: while others
 * wait, adding and removing one costs no timer, but a look at all each time the timer runs.
 */
export class DueTimes {
  readonly #clock: Clock
  readonly #waiting: Due[] = []
  #armedMs = Infinity
  #cancel: Cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds it, or notes that it is due at another time. */
  add(each: Due, nowMs: number): void {
    if (each.index < 0) each.index = this.#waiting.push(each) - 1
    this.#arm(each.dueMs, nowMs)
  }

  delete(each: Due): void {
    const { index } = each
    if (index < 0) return
    const last = this.#waiting.pop() as Due
    if (last !== each) {
      this.#waiting[index] = last
      last.index = index
    }
    each.index = -1
    if (this.#waiting.length > 0) return
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
      if (each.dueMs <= nowMs + toleranceMs && each.index >= 0)
        each.due(Math.max(nowMs, each.dueMs))
    let soonestMs = Infinity
    for (const { dueMs } of this.#waiting) soonestMs = Math.min(soonestMs, dueMs)
    this.#arm(soonestMs, nowMs)
  }
}
