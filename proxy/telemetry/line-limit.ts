// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** So many lines in so long a time. */
export interface LineRate {
  readonly lines: number
  readonly perMs: number
}

/**
 * Keeps one kind of event from flooding the log. Time is cut into windows that begin with an event;
 * what comes after the first lines of a window is left out, and counted when the window ends, so
 * that the log never looks calmer than the router was.
 */
export class LineLimit {
  readonly #clock: Clock
  readonly #rate: LineRate
  readonly #tellLeftOut: (count: number) => void
  #opened = Number.NEGATIVE_INFINITY
  #written = 0
  #leftOut = 0

  constructor(clock: Clock, rate: LineRate, tellLeftOut: (count: number) => void) {
    this.#clock = clock
    this.#rate = rate
    this.#tellLeftOut = tellLeftOut
  }

  /** Whether the line may be written; when not, it was counted. */
  take(): boolean {
    const nowMs = this.#clock.nowMs()
    if (this.#leftOut === 0 && nowMs - this.#opened >= this.#rate.perMs) {
      this.#opened = nowMs
      this.#written = 0
    }
    if (this.#written < this.#rate.lines) {
      this.#written += 1
      return true
    }
    this.#leftOut += 1
    if (this.#leftOut === 1)
      this.#clock.after(this.#opened + this.#rate.perMs - nowMs, () => {
        this.#endWindow()
      })
    return false
  }

  #endWindow(): void {
    const count = this.#leftOut
    this.#leftOut = 0
    this.#opened = Number.NEGATIVE_INFINITY
    this.#tellLeftOut(count)
  }
}
