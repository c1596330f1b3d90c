// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock.ts'
import { TimerQueue, type Timer } from './timer-queue.ts'

/**
 * Time that stands still until advanced, for tests and for the simulation. Timers due at the same
 * instant run in order of creation, so a run is reproducible.
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

  /** Number of pending timers, with which tests detect leftovers. */
  get pending(): number {
    return this.#pending
  }

  /** Advances time by `ms`, running every due timer and settling promises in between. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    // External events, such as file reads, get one event-loop turn.
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
 * microtask, Node runs the next tick only when no microtask is left.
 */
async function settled(): Promise<void> {
  await Promise.resolve()
  await new Promise<void>((resolve) => {
    process.nextTick(resolve)
  })
}
