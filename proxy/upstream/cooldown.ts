// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff, type BackoffRow } from '../clock/backoff.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'

/** After a 429 that names no time. */
const unnamed = { firstMs: 30_000, maxMs: 30 * 60_000, jitter: 0.1 }
/** Of what a provider asks for itself: quotas are counted by the day. */
const retryAfterLimitsMs = { least: 1_000, most: 24 * 3_600_000 }
/** Of a node in trouble: nobody knows when it is over, and there may be no other upstream. */
export const longestPauseMs = 30_000

/**
 * The time in which nothing is sent to a URL: 30 s doubling to 30 min after a 429, or as long as its
 * `Retry-After` says. A success ends the doubling.
 */
export class Cooldown {
  readonly #clock: Clock
  readonly #began: (forMs: number) => void
  readonly #backoff: Backoff
  readonly #longestMs: number
  #untilMs = -Infinity

  /**
   * @param began is called with how long it lasts
   * @param row how long where no time is named
   */
  constructor(
    clock: Clock,
    random: Random | null,
    began: (forMs: number) => void = () => {},
    row: BackoffRow = unnamed,
  ) {
    this.#clock = clock
    this.#began = began
    this.#backoff = new Backoff(row, random)
    this.#longestMs = row.maxMs
  }

  get active(): boolean {
    return this.#untilMs !== -Infinity && this.leftMs > 0
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.nowMs())
  }

  /** A 429 came. One to a call that was under way when a cooldown began changes nothing. */
  begin(retryAfterMs: number | null): void {
    if (this.active) return
    // What is longer ago than that says nothing any more.
    if (this.#clock.nowMs() - this.#untilMs >= this.#longestMs) this.#backoff.reset()
    const { least, most } = retryAfterLimitsMs
    this.#start(
      retryAfterMs === null ? this.#backoff.next() : Math.min(Math.max(retryAfterMs, least), most),
    )
  }

  /** It is unavailable and says for how long: that is no limit of a plan, so the next one is not longer for it. */
  pause(retryAfterMs: number): void {
    if (!this.active && retryAfterMs > 0) this.#start(Math.min(retryAfterMs, longestPauseMs))
  }

  /** An answer came. During a cooldown it can only be one to an earlier call. */
  end(): void {
    if (this.#untilMs === -Infinity || this.active) return
    this.#untilMs = -Infinity
    this.#backoff.reset()
  }

  #start(forMs: number): void {
    this.#untilMs = this.#clock.nowMs() + forMs
    this.#began(forMs)
  }
}

/**
 * Reads `Retry-After`: seconds, which some providers write as a fraction, or an HTTP date.
 * @returns milliseconds from now, 0 also for a date that has passed; null when there is none or it makes no sense
 */
export function parseRetryAfter(value: string | null, wallMs: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  // Date.parse takes nearly anything for a date; an HTTP date ends with its zone.
  const atMs = text.endsWith('GMT') ? Date.parse(text) : NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - wallMs)
}
