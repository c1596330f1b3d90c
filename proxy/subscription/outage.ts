// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

export interface OutageOptions {
  readonly clock: Clock
  /** Nothing was heard for so long, and nobody answers: it is an outage. */
  readonly stallMs: number
}

/** Whether a chain can be heard of at all: over any socket, or by any answer. */
export class Outage {
  readonly #options: OutageOptions
  #unansweredMs: number | null = null
  #overMs = -Infinity

  constructor(options: OutageOptions) {
    this.#options = options
  }

  /** An upstream told of the chain, or answered. */
  heard(): void {
    if (this.isOn) this.#overMs = this.#options.clock.nowMs()
    this.#unansweredMs = null
  }

  /** Nobody answered. */
  unanswered(): void {
    this.#unansweredMs ??= this.#options.clock.nowMs()
  }

  get isOn(): boolean {
    const { clock, stallMs } = this.#options
    return this.#unansweredMs !== null && clock.nowMs() - this.#unansweredMs >= stallMs
  }

  /** When the last one was over; `-Infinity` where there was none. */
  get overMs(): number {
    return this.#overMs
  }
}
