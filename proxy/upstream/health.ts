// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff, type BackoffRow } from '../clock/backoff.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'

/** What verifications, calls and probes make of an upstream. Its state also depends on its URLs and its lag. */
export type AvailabilityState = 'unverified' | 'rejected' | 'eligible' | 'disabled'

type StandingChange = (from: AvailabilityState, to: AvailabilityState, why: string) => void

/**
 * The state machine of one upstream.
 *
 * | from       | event                            | to         |
 * |------------|----------------------------------|------------|
 * | unverified | verification passed              | eligible   |
 * | any        | verification failed              | rejected   |
 * | rejected   | verification passed              | eligible   |
 * | eligible   | failures in a row >= threshold,  | disabled   |
 * |            | the last of them a proven one    |            |
 * | disabled   | success of a relay or a probe    | eligible   |
 * | disabled   | epoch tick                       | eligible   |
 */
export class Availability {
  readonly #threshold: number
  readonly #changed: StandingChange
  #standing: AvailabilityState = 'unverified'
  #failures = 0
  /** Why it has its standing; null at the start. */
  why: string | null = null

  constructor(threshold: number, changed: StandingChange) {
    this.#threshold = threshold
    this.#changed = changed
  }

  get standing(): AvailabilityState {
    return this.#standing
  }

  verified(): void {
    if (this.#standing !== 'unverified' && this.#standing !== 'rejected') return
    // A passed verification resets the failure count.
    this.#failures = 0
    this.#become('eligible', 'verified')
  }

  rejected(why: string): void {
    this.#become('rejected', why)
  }

  succeeded(): void {
    this.#failures = 0
    if (this.#standing === 'disabled') this.#become('eligible', 'answered again')
  }

  /** Consecutive failures reached the threshold, and a probe must confirm them. Until then the upstream goes last. */
  get isDoubtful(): boolean {
    return this.#standing === 'eligible' && this.#failures >= this.#threshold
  }

  /** Calls go to others where there are any. */
  get isOnTrial(): boolean {
    return this.#standing === 'disabled' || this.isDoubtful
  }

  /**
   * @param weight how many failures this one counts for; a refused connection counts double
   * @param isProven false: what one client sends may have a node fail that works
   */
  failed(weight: number, why: string, isProven = true): void {
    this.#failures += weight
    if (isProven && this.isDoubtful) this.#become('disabled', why)
  }

  /** A failure turned out to be none. An upstream that is disabled by now stays so until it answers. */
  excused(weight: number): void {
    this.#failures = Math.max(this.#failures - weight, 0)
  }

  epochBegan(): void {
    if (this.#standing !== 'disabled') return
    this.#failures = 0
    this.#become('eligible', 'a new epoch began')
  }

  #become(standing: AvailabilityState, why: string): void {
    const from = this.#standing
    if (from === standing) return
    this.#standing = standing
    this.why = why
    this.#changed(from, standing, why)
  }
}

/** Epochs are aligned on UTC, so that all replicas share them. */
export function epochLeftMs(wallMs: number, durationMs: number): number {
  return durationMs - (wallMs % durationMs)
}

/** After a 429 that names no time. */
const unnamed = { firstMs: 30_000, maxMs: 30 * 60_000, jitter: 0.1 }
/** Of what a provider asks for itself: quotas are counted by the day. */
const retryAfterLimitsMs = { min: 1_000, max: 24 * 3_600_000 }
/** Of a node that is unavailable: it may be back sooner, and there may be no other upstream. */
export const longestPauseMs = 30_000

/**
 * The time in which nothing is sent to a URL: 30 s doubling to 30 min after a 429, or as long as its
 * `Retry-After` says. A success ends the doubling.
 */
export class Cooldown {
  readonly #clock: Clock
  readonly #began: (forMs: number, why: string) => void
  readonly #backoff: Backoff
  readonly #maxMs: number
  #untilMs = -Infinity
  /** The last one: how long it was to last, and why it began. */
  last = { forMs: 0, why: '' }

  /**
   * @param began is called with how long it lasts, and what the node answered
   * @param row how long where no time is named
   */
  constructor(
    clock: Clock,
    random: Random | null,
    began: (forMs: number, why: string) => void = () => {},
    row: BackoffRow = unnamed,
  ) {
    this.#clock = clock
    this.#began = began
    this.#backoff = new Backoff(row, random)
    this.#maxMs = row.maxMs
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
    // A cooldown that ended longer ago than that does not count.
    if (this.#clock.nowMs() - this.#untilMs >= this.#maxMs) this.#backoff.reset()
    const { min, max } = retryAfterLimitsMs
    if (retryAfterMs === null) this.#start(this.#backoff.next(), 'rate limited')
    else this.#start(Math.min(Math.max(retryAfterMs, min), max), 'rate limited, Retry-After')
  }

  /** It is unavailable and says for how long: that is no limit of a plan, so the next one is not longer for it. */
  pause(retryAfterMs: number): void {
    if (!this.active && retryAfterMs > 0)
      this.#start(Math.min(retryAfterMs, longestPauseMs), 'unavailable, Retry-After')
  }

  /** An answer came. During a cooldown it can only be one to an earlier call. */
  end(): void {
    if (this.#untilMs === -Infinity || this.active) return
    this.#untilMs = -Infinity
    this.#backoff.reset()
  }

  #start(forMs: number, why: string): void {
    this.#untilMs = this.#clock.nowMs() + forMs
    this.last = { forMs, why }
    this.#began(forMs, why)
  }
}

/** A measurement loses half of its weight in this time. */
const halfLifeMs = 60_000
/** An exponentially decaying mean. */
class DecayingMean {
  #sum = 0
  #weight = 0
  #atMs = 0

  add(value: number, nowMs: number): void {
    this.#decayTo(nowMs)
    this.#sum += value
    this.#weight += 1
  }

  /** The mean, drawn towards `prior` as if that had been seen once more. */
  mean(prior: number, nowMs: number): number {
    this.#decayTo(nowMs)
    return (this.#sum + prior) / (this.#weight + 1)
  }

  /** Null when nothing was measured lately. */
  value(nowMs: number): number | null {
    this.#decayTo(nowMs)
    return this.#weight < 0.01 ? null : this.#sum / this.#weight
  }

  #decayTo(nowMs: number): void {
    const kept = 0.5 ** ((nowMs - this.#atMs) / halfLifeMs)
    this.#sum *= kept
    this.#weight *= kept
    this.#atMs = nowMs
  }
}

/** What was measured of one upstream. `docs/concepts/selection.md` has the formulas. */
export class Score {
  readonly #availability = new DecayingMean()
  readonly #latency = new DecayingMean()

  /** @param latencyMs null where the time that it took says nothing */
  succeeded(latencyMs: number | null, nowMs: number): void {
    this.#availability.add(1, nowMs)
    if (latencyMs !== null) this.#latency.add(latencyMs, nowMs)
  }

  /** An attempt was abandoned: the upstream is at least this slow. */
  recordCensoredLatency(elapsedMs: number, nowMs: number): void {
    if (elapsedMs > (this.latencyMs(nowMs) ?? 0)) this.#latency.add(elapsedMs, nowMs)
  }

  failed(nowMs: number): void {
    this.#availability.add(0, nowMs)
  }

  /** Share of calls that it answered lately, in [0, 1]; 1 when nothing is known. */
  availability(nowMs: number): number {
    return this.#availability.mean(1, nowMs)
  }

  /** Of an answer, in milliseconds; null when none was measured lately. */
  latencyMs(nowMs: number): number | null {
    return this.#latency.value(nowMs)
  }
}
