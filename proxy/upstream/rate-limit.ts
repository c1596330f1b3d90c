// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from '../clock/clock.ts'
import type { FixedLimits } from '../config/types.ts'

const noLimits: FixedLimits = { perSecond: null, perDay: null, concurrent: null }
const secondMs = 1_000
const dayMs = 24 * 3_600_000
/** Number of parts of a second in which answers are counted. */
const parts = 10
/** How long a learned limit that held back a call is reported. */
const recentMs = 10_000

/** How the limit of a node that refused a rate is learned. */
const learning = {
  /** Share of the refused rate to send from then on. */
  share: 0.8,
  /** Lowest initial limit, because a node that just refused reveals little. */
  firstPerSecond: 10,
  /** Share of the limit by which it rises per minute. */
  raise: 0.1,
  /** A limit that delays nothing for this long expires. */
  lifeMs: 5 * 60_000,
}

/**
 * Limits of the requests to one URL: fixed ones, and a rate that is learned from refusals. The
 * first refusal begins to measure. At each later one, the limit becomes 80 % of what the node
 * answered in the last second; then it rises, until it binds no more. In no second does a URL get
 * more requests than its limit, not counting the router's own. Sending allocates nothing. Only
 * sent requests count, so a waiting call that leaves takes nothing with it.
 */
export class RateLimit {
  readonly #clock: Clock
  readonly #fixed: FixedLimits
  /** Times of the last requests, as a ring; empty without a rate. */
  #times: Float64Array
  #next = 0
  #learned: { readonly perSecond: number; readonly sinceMs: number } | null = null
  /** Answers per part of the last second, as a ring. */
  readonly #answers = new Float64Array(parts)
  /** Number of the part that was counted last. */
  #part = 0
  /** Whether the node has answered since its last refusal, so that the next one shows its rate. */
  #isOpen = false
  /** When a rate last held back a request. */
  #heldMs = -Infinity
  #day = 0
  #sentToday = 0
  #inFlight = 0
  readonly #waiting = new Set<() => void>()
  /** Called with the last request that the day allows. */
  dayUsed: (() => void) | null = null
  /** Cancels the timer of the first waiting call. */
  #cancelTimer: Cancel | null = null

  constructor(clock: Clock, fixed = noLimits) {
    this.#clock = clock
    this.#fixed = fixed
    this.#times = new Float64Array(fixed.perSecond ?? 0).fill(-Infinity)
  }

  /** Milliseconds until another request may be sent; Infinity: once another one ends. */
  get waitMs(): number {
    return this.#waitBehind(this.#waiting.size)
  }

  /** Whether a request may be sent now. A rate that holds one back lives on. */
  admits(): boolean {
    if (this.waitMs === 0) return true
    // Another limit must not revive a learned one that has expired.
    if (this.learnedPerSecond === null) this.#learned = null
    if (this.#rateWaitMs(this.#waiting.size) > 0) this.#heldMs = this.#clock.nowMs()
    return false
  }

  /** The limit that holds back requests now, in words: `per-day 20`; null if none does. */
  get binding(): string | null {
    const ahead = this.#waiting.size
    const { perDay, concurrent, perSecond } = this.#fixed
    if (perDay !== null && this.isDayUsed) return `per-day ${perDay}`
    if (concurrent !== null && this.#inFlight + ahead >= concurrent)
      return `concurrent ${concurrent}`
    if (this.#rateWaitMs(ahead) === 0) return null
    const learned = this.learnedPerSecond
    return learned === null ? `per-second ${perSecond}` : `learned ${learned} a second`
  }

  /** A limit that a reader should know of; null if there is none. */
  get notice(): string | null {
    const { perDay } = this.#fixed
    if (perDay !== null && this.isDayUsed)
      return `its limit of ${perDay} requests a day is reached until 00:00 UTC`
    const learned = this.learnedPerSecond
    const isRecent = this.#clock.nowMs() - this.#heldMs < recentMs
    return learned !== null && isRecent
      ? `held back by a learned limit of ${learned} a second`
      : null
  }

  /** Whether the requests of this day are used up. */
  get isDayUsed(): boolean {
    const { perDay } = this.#fixed
    return perDay !== null && this.sentToday >= perDay
  }

  /** The learned limit; null if there is none, or it has expired. */
  get learnedPerSecond(): number | null {
    if (this.#learned === null) return null
    const { perSecond, sinceMs } = this.#learned
    const nowMs = this.#clock.nowMs()
    const raised = perSecond * (1 + (learning.raise * (nowMs - sinceMs)) / 60_000)
    const isIdle = nowMs - Math.max(sinceMs, this.#heldMs) > learning.lifeMs
    return raised < this.#times.length && !isIdle ? Math.floor(raised) : null
  }

  /** Counts a request that is sent now. */
  begin(): void {
    if (this.#times.length > 0) {
      this.#times[this.#next] = this.#clock.nowMs()
      this.#next = (this.#next + 1) % this.#times.length
    }
    this.#inFlight += 1
    const { perDay } = this.#fixed
    if (perDay === null) return
    this.#sentToday = this.sentToday + 1
    this.#day = this.#currentDay
    if (this.#sentToday === perDay) this.dayUsed?.()
  }

  /** The request has ended, or was never sent. */
  end(): void {
    // Requests from before the first refusal were not counted.
    this.#inFlight = Math.max(this.#inFlight - 1, 0)
    this.#wake()
  }

  /** Calls `run` when it may send a request; the longest waiting first. @returns cancels */
  whenFree(run: () => void): () => void {
    this.#waiting.add(run)
    this.#setTimer()
    return () => {
      if (this.#waiting.delete(run)) this.#setTimer()
    }
  }

  answered(): void {
    this.#isOpen = true
    this.#advance()
    const at = this.#part % parts
    this.#answers[at] = (this.#answers[at] ?? 0) + 1
  }

  /** Handles a refusal because of the rate. */
  refused(): void {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    if (!wasOpen) return
    this.#advance()
    const answers = this.#answers.reduce((sum, each) => sum + each, 0)
    const limit = this.learnedPerSecond
    // With a limit, a few requests may not show what the node takes.
    const passed =
      limit === null
        ? Math.max(answers, learning.firstPerSecond)
        : Math.max(Math.min(answers, limit), limit / 2)
    const perSecond = Math.max(1, learning.share * passed)
    this.#learned = { perSecond, sinceMs: this.#clock.nowMs() }
    if (this.#fixed.perSecond !== null) return
    // It expires at twice its first value.
    this.#times = new Float64Array(Math.ceil(2 * perSecond)).fill(-Infinity)
    this.#next = 0
  }

  /** Takes over the requests that an earlier config has sent to the same URL today. */
  resume({ sentToday }: Pick<RateLimit, 'sentToday'>): void {
    this.#sentToday = sentToday
    this.#day = this.#currentDay
  }

  /** Requests of this day, UTC; 0 without a limit of the day. */
  get sentToday(): number {
    return this.#day === this.#currentDay ? this.#sentToday : 0
  }

  /** Milliseconds until a request may be sent that so many waiting ones precede. */
  #waitBehind(ahead: number): number {
    const { perDay, concurrent } = this.#fixed
    if (concurrent !== null && this.#inFlight + ahead >= concurrent) return Infinity
    const rateMs = this.#rateWaitMs(ahead)
    if (perDay === null || this.sentToday + ahead < perDay) return rateMs
    return Math.max(rateMs, dayMs - (this.#clock.wallMs() % dayMs))
  }

  #rateWaitMs(ahead: number): number {
    const perSecond = this.learnedPerSecond ?? this.#fixed.perSecond
    if (perSecond === null) return 0
    const { length } = this.#times
    const back = perSecond - (ahead % perSecond)
    const first = this.#times[(this.#next - back + length) % length] as number
    const waitMs = Math.max(0, first + secondMs - this.#clock.nowMs())
    // Sums of fractional milliseconds are inexact.
    return (waitMs < 1e-6 ? 0 : waitMs) + secondMs * Math.floor(ahead / perSecond)
  }

  #wake(): void {
    for (const run of this.#waiting) {
      if (this.#waitBehind(0) > 0) break
      this.#waiting.delete(run)
      run()
    }
    this.#setTimer()
  }

  /** Sets the timer of the call that waits longest. */
  #setTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    if (this.#waiting.size === 0) return
    const waitMs = this.#waitBehind(0)
    // The end of a request wakes it.
    if (waitMs === Infinity) return
    this.#cancelTimer = this.#clock.after(waitMs, () => this.#wake())
  }

  /** Clears the parts of the ring that are older than a second. */
  #advance(): void {
    const part = Math.floor((this.#clock.nowMs() * parts) / secondMs)
    const from = Math.max(this.#part, part - parts)
    for (let each = from + 1; each <= part; each++) this.#answers[each % parts] = 0
    this.#part = part
  }

  get #currentDay(): number {
    return Math.floor(this.#clock.wallMs() / dayMs)
  }
}
