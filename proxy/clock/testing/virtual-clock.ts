// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock.ts'
import { TimerQueue, type Timer } from './timer-queue.ts'

/**
 * Time that stands still until it is advanced: for tests and for the simulation. Timers due at
 * the same instant run in the order in which they were set, so a run is reproducible.
 */
export class VirtualClock implements Clock {
  #nowMs = 0
  #order = 0
  #pending = 0
  readonly #wallOriginMs: number
  readonly #timers = new TimerQueue()

  constructor(wallOriginMs = Date.UTC(2026, 0, 1)) {
    this.#wallOriginMs = wallOriginMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  wallMs(): number {
    return this.#wallOriginMs + this.#nowMs
  }

  after(delayMs: number, run: () => void): Cancel {
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run }
    this.#timers.add(timer)
    this.#pending += 1
    return () => {
      if (timer.run === null) return
      timer.run = null
      this.#pending -= 1
    }
  }

  /** How many timers wait: a test's way to see that nothing was left behind. */
  get pending(): number {
    return this.#pending
  }

  /** Moves time on by `ms`, running every timer on the way and letting promises settle between. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    // What comes from outside of virtual time, such as a file that is being read, gets its turn once.
    await new Promise((resolve) => setImmediate(resolve))
    for (let timer = this.#timers.peek(); timer; timer = this.#timers.peek()) {
      if (timer.atMs > untilMs) break
      this.#timers.take()
      const { run } = timer
      if (run === null) continue
      timer.run = null
      this.#pending -= 1
      this.#nowMs = timer.atMs
      run()
      await settled()
    }
    this.#nowMs = untilMs
  }
}

/**
 * Resolves when every promise that can settle without time passing has done so. From within a
 * microtask, Node runs the next tick only when no microtask is left, however many follow each other.
 */
async function settled(): Promise<void> {
  await Promise.resolve()
  await new Promise<void>((resolve) => {
    process.nextTick(resolve)
  })
}
