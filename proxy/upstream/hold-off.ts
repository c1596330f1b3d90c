// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { FailureClass } from '../chain/failure-table.ts'
import type { Random } from '../clock/random.ts'
import type { Incoming } from './wire.ts'

const firstMs = 30_000
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
 * `Retry-After` says. A success after it ends the doubling.
 */
export class HoldOff {
  readonly #clock: Clock
  readonly #random: Random
  readonly #began: (holdOffMs: number) => void
  #untilMs = -Infinity
  #nextMs = firstMs
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
    // Jitter keeps replicas from coming back in step.
    const holdOffMs =
      retryAfterMs === null
        ? this.#nextMs * (1 + this.#random.next() / 10)
        : Math.min(retryAfterMs, longestToldMs)
    this.#nextMs = Math.min(this.#nextMs * 2, longestMs)
    this.#leaveAlone(holdOffMs, refusal)
    return this.leftMs
  }

  /**
   * It is unavailable and says for how long: it is left alone for that time, at most 30 s. That is no
   * limit of a plan, so the next one is not longer for it.
   */
  pause(retryAfterMs: number, refusal: Refusal | null): void {
    if (this.#isNews('trouble')) this.#leaveAlone(Math.min(retryAfterMs, longestPauseMs), refusal)
  }

  /** An answer came. While the URL is left alone it can only be one to an earlier call. */
  end(): void {
    if (this.active) return
    this.#untilMs = -Infinity
    this.#nextMs = firstMs
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

/**
 * Reads `Retry-After`: seconds, which some providers write as a fraction, or an HTTP date. No time at all, which a provider whose clock is slow
 * tells by a date that has passed, is no way to leave somebody alone.
 * @returns milliseconds from now, or null when there is none or it makes no sense
 */
export function parseRetryAfter(value: string | null, wallMs: number): number | null {
  if (value === null) return null
  if (/^\d+(?:\.\d+)?$/.test(value.trim())) return Number(value) * 1000 || null
  // Date.parse takes nearly anything for a date; an HTTP date ends with its zone.
  const atMs = value.trim().endsWith('GMT') ? Date.parse(value) : NaN
  return atMs > wallMs ? atMs - wallMs : null
}
