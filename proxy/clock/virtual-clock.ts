// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'

interface Timer {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
}

/**
 * Time that stands still until it is told to move: for tests and for the simulation. Timers due at
 * the same instant run in the order in which they were set, so a run is reproducible.
 */
export class VirtualClock implements Clock {
  #nowMs = 0
  #order = 0
  readonly #wallOriginMs: number
  readonly #timers = new Set<Timer>()

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
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** How many timers wait: a test's way to see that nothing was left behind. */
  get pending(): number {
    return this.#timers.size
  }

  /** Moves time on by `ms`, running every timer on the way and letting promises settle between. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (let timer = this.#next(untilMs); timer; timer = this.#next(untilMs)) {
      this.#timers.delete(timer)
      this.#nowMs = timer.atMs
      timer.run()
      await settle()
    }
    this.#nowMs = untilMs
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.atMs > untilMs) continue
      if (!next || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer
    }
    return next
  }
}

/** Lets every promise that can settle without time passing do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
