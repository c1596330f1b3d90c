// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { FailureClass } from '../chain/failure-table.ts'
import type { Random } from '../clock/random.ts'
import type { Incoming } from './wire.ts'

/** Where it does not say for how long, and where it says that it may be asked again at once. */
const firstMs = { untold: 30_000, soon: 1_000 }
const longestMs = 30 * 60_000
/** Of what a provider says itself: quotas are counted by the day. */
const longestToldMs = 24 * 3_600_000
/** Of one that is in trouble: nobody knows when it is over, and there may be nobody else. */
const longestPauseMs = 30_000

/** In what words a URL asked to be left alone. */
export interface Refusal {
  readonly incoming: Incoming
  readonly failure: FailureClass
  /** Those that may come from the call that got it, lower case: only who writes them too is told. */
  readonly repeated: readonly string[]
}

/** Why a URL is left alone: a limit of its plan, or trouble that it says will pass. */
type Reason = 'limit' | 'trouble'

/**
 * Leaves a URL alone that asked for it (429, quota): 30 s doubling to 30 min, or as long as its
 * `Retry-After` says; where that says no time at all, 1 s doubling. A success after it ends the doubling.
 */
export class HoldOff {
  readonly #clock: Clock
  readonly #random: Random
  readonly #began: (holdOffMs: number) => void
  #untilMs = -Infinity
  /** Hold-offs since the last success, each of which doubles the next one. */
  #repeated = 0
  #refusal: Refusal | null = null
  /** For what it is left alone now. */
  readonly #reasons = new Set<Reason>()

  /** @param began hears how long it will be left alone, whoever found out */
  constructor(clock: Clock, random: Random, began: (holdOffMs: number) => void = () => {}) {
    this.#clock = clock
    this.#random = random
    this.#began = began
  }

  get active(): boolean {
    return this.#untilMs > this.#clock.nowMs()
  }

  /** How long it will still be left alone, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.nowMs())
  }

  /** In what words it asked for it, where they may be passed on; null for those to a question of our own. */
  get refusal(): Refusal | null {
    return this.active ? this.#refusal : null
  }

  /** @returns how long it will be left alone, in milliseconds */
  begin(retryAfterMs: number | null, refusal: Refusal | null = null): number {
    if (!this.#isNews('limit')) {
      this.#refusal ??= refusal
      return this.leftMs
    }
    const holdOffMs = retryAfterMs
      ? Math.min(retryAfterMs, longestToldMs)
      : this.#ownMs(retryAfterMs === null ? firstMs.untold : firstMs.soon)
    this.#repeated += 1
    this.#leaveAlone(holdOffMs, refusal)
    return this.leftMs
  }

  /** How long it is left alone where it did not name a time; jitter keeps replicas from coming back in step. */
  #ownMs(atFirstMs: number): number {
    return Math.min(atFirstMs * 2 ** this.#repeated, longestMs) * (1 + this.#random.next() / 10)
  }

  /**
   * It is unavailable and says for how long: it is left alone for that time, at most 30 s, and not at all
   * where that is no time. That is no limit of a plan, so the next one is not longer for it.
   */
  pause(retryAfterMs: number, refusal: Refusal | null): void {
    if (this.#isNews('trouble')) this.#leaveAlone(Math.min(retryAfterMs, longestPauseMs), refusal)
  }

  /** An answer came. While the URL is left alone it can only be one to an earlier call. */
  end(): void {
    if (this.active) return
    this.#untilMs = -Infinity
    this.#repeated = 0
  }

  /** Answers to calls that were already under way say nothing new, but for another reason. */
  #isNews(reason: Reason): boolean {
    if (!this.active) this.#reasons.clear()
    if (this.#reasons.has(reason)) return false
    this.#reasons.add(reason)
    return true
  }

  /** Of two ends the later one counts. */
  #leaveAlone(holdOffMs: number, refusal: Refusal | null): void {
    if (holdOffMs <= this.leftMs) return
    this.#untilMs = this.#clock.nowMs() + holdOffMs
    this.#refusal = refusal
    this.#began(holdOffMs)
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
