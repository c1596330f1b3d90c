// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff, type BackoffRow } from '../clock/backoff.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { MethodLimit } from './observer.ts'

/** Health by verifications, calls and probes. `UpstreamState` also covers cooldowns and lag. */
export type AvailabilityState = 'unverified' | 'rejected' | 'eligible' | 'disabled'

type StateChange = (from: AvailabilityState, to: AvailabilityState, why: string) => void

/**
 * The state machine of one upstream.
 *
 * | from       | event                            | to         |
 * |------------|----------------------------------|------------|
 * | unverified | verification passed              | eligible   |
 * | any        | verification failed              | rejected   |
 * | rejected   | verification passed              | eligible   |
 * | eligible   | failures in a row >= threshold,  | disabled   |
 * |            | the last of them proven          |            |
 * | disabled   | success of a relay or a probe    | eligible   |
 * | disabled   | epoch tick                       | eligible   |
 */
export class Availability {
  readonly #threshold: number
  readonly #changed: StateChange
  #state: AvailabilityState = 'unverified'
  #failures = 0
  /** Reason for the state; null at the start. */
  why: string | null = null

  constructor(threshold: number, changed: StateChange) {
    this.#threshold = threshold
    this.#changed = changed
  }

  get standing(): AvailabilityState {
    return this.#state
  }

  verified(): void {
    if (this.#state !== 'unverified' && this.#state !== 'rejected') return
    // A passed verification resets the failure count.
    this.#failures = 0
    this.#become('eligible', 'verified')
  }

  rejected(why: string): void {
    this.#become('rejected', why)
  }

  succeeded(): void {
    this.#failures = 0
    if (this.#state === 'disabled') this.#become('eligible', 'answered again')
  }

  /** Failures reached the threshold. Until a probe confirms them, the upstream ranks last. */
  get isDoubtful(): boolean {
    return this.#state === 'eligible' && this.#failures >= this.#threshold
  }

  /** Whether calls prefer any other upstream. */
  get isOnTrial(): boolean {
    return this.#state === 'disabled' || this.isDoubtful
  }

  /**
   * @param weight number of failures that this one counts as; a refused connection counts double
   * @param isProven false if the request of one client may have caused the failure
   */
  failed(weight: number, why: string, isProven = true): void {
    this.#failures += weight
    if (isProven && this.isDoubtful) this.#become('disabled', why)
  }

  /** Reverts a failure. An upstream that is already disabled stays disabled until it answers. */
  excused(weight: number): void {
    this.#failures = Math.max(this.#failures - weight, 0)
  }

  epochBegan(): void {
    if (this.#state !== 'disabled') return
    this.#failures = 0
    this.#become('eligible', 'a new epoch began')
  }

  #become(state: AvailabilityState, why: string): void {
    const from = this.#state
    if (from === state) return
    this.#state = state
    this.why = why
    this.#changed(from, state, why)
  }
}

/** Time left in the epoch. Epochs are aligned to UTC, so all replicas share them. */
export function epochLeftMs(wallMs: number, durationMs: number): number {
  return durationMs - (wallMs % durationMs)
}

/** Cooldowns of a URL whose node does not say how long it limits. */
const cooldowns = {
  /** Calls per time: a limit per second is over soon. */
  rate: { row: { firstMs: 1_000, maxMs: 60_000, jitter: 0.1 }, why: 'rate limited' },
  /** An allowance of hours or months. */
  quota: { row: { firstMs: 5 * 60_000, maxMs: 6 * 3_600_000, jitter: 0.1 }, why: 'quota exceeded' },
} as const
export type CooldownKind = keyof typeof cooldowns
/** The cause of a cooldown after a rate limit. */
export const rateLimited = cooldowns.rate.why

/** Limits for `Retry-After`: quotas are at most daily. */
const retryAfterLimitsMs = { min: 1_000, max: 24 * 3_600_000 }
const requested = ', wait requested by the node'
/** Limit for an unavailable node, which may recover sooner and may be the only upstream. */
export const longestPauseMs = 30_000
/** Least time between two trials of a URL in cooldown. */
const minTrialDistanceMs = 1_000
/** How long the end of a limit on a method is reported. */
const recentMs = 60_000
/** Number of methods of a URL that may be in cooldown. */
const maxMethods = 256

interface MethodCooldown {
  readonly untilMs: number
  readonly why: string
  /** Otherwise the node lacks the method. */
  readonly isLimit: boolean
}

/**
 * A period without requests to a URL: from 1 s doubling to a minute after a rate limit, from 5
 * minutes doubling to 6 hours after a quota, or the `Retry-After` time. A success resets the
 * doubling. A method may have a cooldown of its own.
 */
export class Cooldown {
  readonly clock: Clock
  readonly #began: (forMs: number, why: string) => void
  readonly #backoffs: Readonly<Record<CooldownKind, Backoff>>
  #untilMs = -Infinity
  #triedMs = -Infinity
  #isOnTrial = false
  readonly #methods = new Map<string, MethodCooldown>()
  /** Duration and reason of the last cooldown, and the reason in a word or two. */
  last = { forMs: 0, why: '', cause: '' }

  /**
   * @param began called with the duration and the reason
   * @param rate waits after a rate limit
   */
  constructor(
    clock: Clock,
    random: Random | null,
    began: (forMs: number, why: string) => void = () => {},
    rate: BackoffRow = cooldowns.rate.row,
  ) {
    this.clock = clock
    this.#began = began
    const quota = new Backoff(cooldowns.quota.row, random)
    this.#backoffs = { rate: new Backoff(rate, random), quota }
  }

  get active(): boolean {
    return this.#untilMs !== -Infinity && this.leftMs > 0
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.clock.nowMs())
  }

  /**
   * Handles a limit. During a cooldown it belongs to an earlier call and is ignored.
   * @param reason the failure in words
   */
  begin(retryAfterMs: number | null, kind: CooldownKind = 'rate', reason = ''): void {
    if (this.active) return
    const { row, why } = cooldowns[kind]
    const backoff = this.#backoffs[kind]
    // An old cooldown does not count towards the doubling.
    if (this.clock.nowMs() - this.#untilMs >= row.maxMs) backoff.reset()
    const { min, max } = retryAfterLimitsMs
    // A quota that is used up does not return within seconds, whatever a gateway says.
    const leastMs = kind === 'quota' ? row.firstMs : min
    if (retryAfterMs === null) this.#start(backoff.next(), why, reason)
    else {
      const forMs = Math.min(Math.max(retryAfterMs, leastMs), max)
      this.#start(forMs, why, reason, requested)
    }
  }

  /** Handles `Retry-After` of an unavailable node, which does not affect the doubling. */
  pause(retryAfterMs: number, reason = ''): void {
    if (this.active || retryAfterMs <= 0) return
    this.#start(Math.min(retryAfterMs, longestPauseMs), 'unavailable', reason, requested)
  }

  /**
   * Whether one call may try the URL although it is in cooldown, because no other can serve. Trials
   * keep a distance of a second, or of a tenth of the cooldown.
   */
  beginTrial(): boolean {
    const nowMs = this.clock.nowMs()
    if (nowMs - this.#triedMs < Math.max(minTrialDistanceMs, this.last.forMs / 10)) return false
    this.#triedMs = nowMs
    this.#isOnTrial = true
    return true
  }

  /** Handles an answer. During a cooldown, unless on trial, it belongs to an earlier call. */
  end(): void {
    if (this.#untilMs === -Infinity || (this.active && !this.#isOnTrial)) return
    this.#untilMs = -Infinity
    this.#isOnTrial = false
    this.#backoffs.rate.reset()
    this.#backoffs.quota.reset()
  }

  /** Begins the cooldown of one method, which the node limits or lacks. */
  beginOf(method: string, forMs: number, why: string, isLimit = true): void {
    const [oldest] = this.#methods.keys()
    if (this.#methods.size >= maxMethods && oldest !== undefined) this.#methods.delete(oldest)
    this.#methods.set(method, { untilMs: this.clock.nowMs() + forMs, why, isLimit })
  }

  /** Methods that the node limits, or has limited until a minute ago. */
  get methodLimits(): readonly MethodLimit[] {
    const [nowMs, wallMs] = [this.clock.nowMs(), this.clock.wallMs()]
    return [...this.#methods].flatMap(([method, { untilMs, why, isLimit }]) => {
      if (!isLimit || untilMs <= nowMs - recentMs) return []
      return { method, why, until: new Date(wallMs + untilMs - nowMs).toISOString() }
    })
  }

  /** Milliseconds left of a method's own cooldown. */
  leftMsOf(method: string): number {
    if (this.#methods.size === 0) return 0
    const leftMs = (this.#methods.get(method)?.untilMs ?? -Infinity) - this.clock.nowMs()
    if (leftMs <= -recentMs) this.#methods.delete(method)
    return Math.max(0, leftMs)
  }

  /** Reason of a method's own cooldown; null without one. */
  whyOf(method: string): string | null {
    return this.leftMsOf(method) > 0 ? (this.#methods.get(method)?.why ?? null) : null
  }

  /** Begins one that another process has observed, and reports nothing. @returns whether it did */
  adopt(last: Cooldown['last']): boolean {
    if (this.active) return false
    const nowMs = this.clock.nowMs()
    this.#untilMs = nowMs + last.forMs
    this.#triedMs = nowMs
    this.#isOnTrial = false
    this.last = last
    return true
  }

  #start(forMs: number, cause: string, reason: string, by = ''): void {
    const why = `${cause}${by}${reason && `: ${reason}`}`
    this.adopt({ forMs, why, cause })
    this.#began(forMs, why)
  }
}

/** Half-life of a measurement's weight. */
const halfLifeMs = 60_000
/** An exponentially decaying mean. */
class DecayingMean {
  #sum = 0
  #distances = 0
  #weight = 0
  #atMs = 0

  add(value: number, nowMs: number): void {
    this.#decayTo(nowMs)
    this.#sum += value
    this.#weight += 1
    this.#distances += Math.abs(value - this.#sum / this.#weight)
  }

  /** The mean with `prior` as one more sample. */
  mean(prior: number, nowMs: number): number {
    this.#decayTo(nowMs)
    return (this.#sum + prior) / (this.#weight + 1)
  }

  /** Null without recent samples. @param others whose samples count, too */
  value(nowMs: number, ...others: readonly DecayingMean[]): number | null {
    let [sum, weight] = [0, 0]
    for (const each of [this, ...others]) {
      each.#decayTo(nowMs)
      sum += each.#sum
      weight += each.#weight
    }
    return weight < 0.01 ? null : sum / weight
  }

  /** Mean absolute deviation, which outliers hardly affect; 0 without samples. */
  get deviation(): number {
    return this.#weight === 0 ? 0 : this.#distances / this.#weight
  }

  #decayTo(nowMs: number): void {
    const factor = 0.5 ** ((nowMs - this.#atMs) / halfLifeMs)
    this.#sum *= factor
    this.#distances *= factor
    this.#weight *= factor
    this.#atMs = nowMs
  }
}

/**
 * A latency is usual up to this many mean deviations above the mean. A multiple of the mean would
 * not do: hedges end a hang at latencies that a sound but slower node reaches, too.
 */
const usualDeviations = 3

/** Measurements of one upstream. `docs/concepts/selection.md` has the formulas. */
export class Score {
  readonly #availability = new DecayingMean()
  /** Of answers. */
  readonly #latency = new DecayingMean()
  /** Of aborted attempts that had run longer than usual. */
  readonly #censored = new DecayingMean()

  /** @param latencyMs null if the latency is not comparable */
  succeeded(latencyMs: number | null, nowMs: number): void {
    this.#availability.add(1, nowMs)
    if (latencyMs !== null) this.#latency.add(latencyMs, nowMs)
  }

  /** Records an aborted attempt: the upstream is at least this slow. */
  recordCensoredLatency(elapsedMs: number, nowMs: number): void {
    if (elapsedMs > (this.latencyMs(nowMs) ?? 0)) this.#censored.add(elapsedMs, nowMs)
  }

  failed(nowMs: number): void {
    this.#availability.add(0, nowMs)
  }

  /** Share of recent calls that succeeded, in [0, 1]; 1 without samples. */
  availability(nowMs: number): number {
    return this.#availability.mean(1, nowMs)
  }

  /** Mean latency in milliseconds, of aborted attempts too; null without recent samples. */
  latencyMs(nowMs: number): number | null {
    return this.#latency.value(nowMs, this.#censored)
  }

  /** Whether some of its answers take this long; false without recent ones. */
  isUsual(elapsedMs: number, nowMs: number): boolean {
    const meanMs = this.#latency.value(nowMs) ?? 0
    return elapsedMs <= meanMs + usualDeviations * this.#latency.deviation
  }
}
