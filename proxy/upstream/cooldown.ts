// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { Backoff, type BackoffRow } from '../clock/backoff.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Incoming } from './wire.ts'

/** After a 429 that names no time, and after one that says that it may be asked again at once. */
const unnamed: BackoffRow = { firstMs: 30_000, maxMs: 30 * 60_000, jitter: 0.1 }
const atOnce: BackoffRow = { ...unnamed, firstMs: 1_000 }
/** Of what a provider says itself: quotas are counted by the day. */
const longestRetryAfterMs = 24 * 3_600_000
/** Of a node in trouble: nobody knows when it is over, and there may be no other upstream. */
const longestPauseMs = 30_000

/** The answer by which a URL asked for a cooldown. */
export interface Refusal {
  readonly incoming: Incoming
  readonly failure: FailureClass
  /** Words of it that may come from the call that got it, in lower case: passed on only to calls that hold them. */
  readonly repeated: readonly string[]
}

/**
 * The time in which nothing is sent to a URL: 30 s doubling to 30 min after a 429, or as long as its
 * `Retry-After` says. A success ends the doubling.
 */
export class HoldOff {
  readonly #clock: Clock
  readonly #began: (cooldownMs: number) => void
  readonly #unnamed: Backoff
  readonly #atOnce: Backoff
  #untilMs = -Infinity
  #refusal: Refusal | null = null
  /** It began with a 429, and not with trouble of the node. */
  #isLimit = false

  /** @param began is called with how long it lasts */
  constructor(clock: Clock, random: Random, began: (cooldownMs: number) => void = () => {}) {
    this.#clock = clock
    this.#began = began
    this.#unnamed = new Backoff(unnamed, random)
    this.#atOnce = new Backoff(atOnce, random)
  }

  get active(): boolean {
    return this.#untilMs !== -Infinity && this.leftMs > 0
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.nowMs())
  }

  /** The answer that began it, where it may be passed on; null for one to a probe. */
  get refusal(): Refusal | null {
    return this.active ? this.#refusal : null
  }

  /** A 429 came. One to a call that was under way when a cooldown began changes nothing. @returns how long it lasts */
  begin(retryAfterMs: number | null, refusal: Refusal | null = null): number {
    if (this.active && this.#isLimit) {
      this.#refusal ??= refusal
      return this.leftMs
    }
    let cooldownMs = Math.min(retryAfterMs ?? 0, longestRetryAfterMs)
    if (cooldownMs === 0) cooldownMs = (retryAfterMs === null ? this.#unnamed : this.#atOnce).next()
    this.#start(Math.max(cooldownMs, this.leftMs), refusal)
    this.#isLimit = true
    return this.leftMs
  }

  /** It is unavailable and says for how long: that is no limit of a plan, so the next one is not longer for it. */
  pause(retryAfterMs: number, refusal: Refusal | null): void {
    if (!this.active && retryAfterMs > 0)
      this.#start(Math.min(retryAfterMs, longestPauseMs), refusal)
  }

  /** An answer came. During a cooldown it can only be one to an earlier call. */
  end(): void {
    if (this.#untilMs === -Infinity || this.active) return
    this.#untilMs = -Infinity
    this.#unnamed.reset()
    this.#atOnce.reset()
  }

  #start(cooldownMs: number, refusal: Refusal | null): void {
    this.#untilMs = this.#clock.nowMs() + cooldownMs
    this.#isLimit = false
    this.#refusal = refusal
    this.#began(cooldownMs)
  }
}

/** The oldest form of an HTTP date (RFC 9110, 5.6.7), such as `Sun Nov  6 08:49:37 1994`, in UTC. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Reads `Retry-After`: seconds, which some providers write as a fraction, or an HTTP date in any of its three forms.
 * @returns milliseconds from now, 0 also for a date that has passed; null when there is none or it makes no sense
 */
export function parseRetryAfter(value: string | null, wallMs: number): number | null {
  if (value === null) return null
  const text = value.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  // Date.parse takes nearly anything for a date; an HTTP date ends with its zone, or is one of asctime.
  const date = asctime.test(text) ? `${text} GMT` : text
  const atMs = date.endsWith('GMT') ? Date.parse(date) : NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - wallMs)
}
