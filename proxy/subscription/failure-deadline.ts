// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** Since when the chain has been observed without a pause; null: it is not observed now. */
export interface ObservedChain {
  readonly observedSinceMs: number | null
}

/**
 * How long fetching the next event may go on failing. Only time in which the chain was observed to go
 * on counts: in an outage clients miss nothing that could be sent.
 */
export class FailureDeadline {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #chain: ObservedChain
  #sinceMs: number | null = null

  constructor(clock: Clock, limitMs: number, chain: ObservedChain) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#chain = chain
  }

  /** @returns how long it has been failing, in milliseconds */
  failed(): number {
    const nowMs = this.#clock.nowMs()
    this.#sinceMs ??= nowMs
    return nowMs - this.#sinceMs
  }

  /** It was fetched, or is not wanted any more. */
  reset(): void {
    this.#sinceMs = null
  }

  get isOver(): boolean {
    const { observedSinceMs } = this.#chain
    if (this.#sinceMs === null || observedSinceMs === null) return false
    return this.#clock.nowMs() - Math.max(this.#sinceMs, observedSinceMs) >= this.#limitMs
  }
}
