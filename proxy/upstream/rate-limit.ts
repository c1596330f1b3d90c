// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'

/** Limits of one URL in the config; null: none. */
export interface FixedLimits {
  readonly perSecond: number | null
  readonly perDay: number | null
  readonly concurrent: number | null
}

const noLimits: FixedLimits = { perSecond: null, perDay: null, concurrent: null }
const secondMs = 1_000
const dayMs = 24 * 3_600_000
/** Number of requests whose times an unlimited URL retains, to measure its rate. */
const observedRequests = 1_024

/** How the limit of a node that refused a rate is learned. */
const learning = {
  /** Share of the refused rate to send from then on. */
  share: 0.8,
  /** Least rate to begin with: a node that has just been closed shows little of its limit. */
  firstPerSecond: 10,
  /** Share of the limit by which it rises per minute. */
  raise: 0.1,
  /** A limit that has held back nothing for this long is forgotten. */
  lifeMs: 5 * 60_000,
}

/**
 * Limits of the requests to one URL: fixed ones, and a rate that is learned from refusals. The
 * first refusal begins to measure. At each later one, the limit becomes 80 % of what the node took
 * in the last second; then it rises, until it binds no more. In no second does a URL get more
 * requests than its limit, not counting the router's own. Sending allocates nothing.
 */
export class RateLimit {
  readonly #clock: Clock
  readonly #fixed: FixedLimits
  /** Times of the last requests, as a ring, including those that wait for their time. */
  #times: Float64Array
  #next = 0
  #learned: { readonly perSecond: number; readonly sinceMs: number } | null = null
  /** Whether the node has answered since its last refusal, so that the next one shows its rate. */
  #isOpen = false
  #boundMs: number
  #day = 0
  #sentToday = 0
  #inFlight = 0
  readonly #waiting = new Set<() => void>()

  constructor(clock: Clock, fixed = noLimits) {
    this.#clock = clock
    this.#fixed = fixed
    this.#times = new Float64Array(fixed.perSecond ?? observedRequests).fill(-Infinity)
    this.#boundMs = clock.nowMs()
  }

  /** Milliseconds until a request may be sent; Infinity: once another one ends. */
  get waitMs(): number {
    const { perDay, concurrent } = this.#fixed
    if (concurrent !== null && this.#inFlight >= concurrent) return Infinity
    const nowMs = this.#clock.nowMs()
    const perSecond = this.#perSecond(nowMs)
    const first = perSecond === Infinity ? -Infinity : this.#timeOf(perSecond)
    let waitMs = first + secondMs - nowMs
    if (perDay !== null && this.#today() >= perDay)
      waitMs = Math.max(waitMs, dayMs - (this.#clock.wallMs() % dayMs))
    // Sums of fractional milliseconds are inexact.
    if (waitMs < 1e-6) return 0
    this.#boundMs = nowMs
    return waitMs
  }

  /** Counts a request. @param waitMs when it will be sent; later requests queue behind it */
  begin(waitMs = 0): void {
    const latestMs = this.#timeOf(1)
    this.#times[this.#next] = Math.max(latestMs, this.#clock.nowMs() + waitMs)
    this.#next = (this.#next + 1) % this.#times.length
    if (this.#fixed.perDay !== null) this.#sentToday = this.#today() + 1
    this.#inFlight += 1
  }

  /** The request has ended, or was never sent. */
  end(): void {
    // Requests from before the first refusal were not counted.
    this.#inFlight = Math.max(this.#inFlight - 1, 0)
    const { concurrent } = this.#fixed
    while (concurrent !== null && this.#inFlight < concurrent) {
      const [run] = this.#waiting
      if (!run) return
      this.#waiting.delete(run)
      run()
    }
  }

  /** Calls `run` when a concurrent request ends; the longest waiting first. @returns cancels */
  whenFree(run: () => void): () => void {
    this.#waiting.add(run)
    return () => this.#waiting.delete(run)
  }

  answered(): void {
    this.#isOpen = true
  }

  /** Handles a refusal because of the rate. */
  refused(): void {
    const nowMs = this.#clock.nowMs()
    const wasOpen = this.#isOpen
    this.#isOpen = false
    this.#boundMs = nowMs
    if (!wasOpen) return
    const limit = this.#perSecond(nowMs)
    const rate = this.#rate(nowMs)
    // Without a limit, more may be in flight than the node takes; with one, no more than that.
    const passed =
      this.#learned === null
        ? Math.max(rate - this.#inFlight, learning.firstPerSecond)
        : Math.max(Math.min(rate, limit), limit / 2)
    const perSecond = Math.max(1, learning.share * passed)
    this.#learned = { perSecond, sinceMs: nowMs }
    if (this.#fixed.perSecond !== null) return
    // At twice the limit it is forgotten.
    this.#times = new Float64Array(Math.ceil(2 * perSecond)).fill(-Infinity)
    this.#next = 0
  }

  #perSecond(nowMs: number): number {
    const fixed = this.#fixed.perSecond ?? Infinity
    if (this.#learned === null) return fixed
    const { perSecond, sinceMs } = this.#learned
    const raised = perSecond * (1 + (learning.raise * (nowMs - sinceMs)) / 60_000)
    const isIdle = nowMs - this.#boundMs > learning.lifeMs
    if (raised < this.#times.length && !isIdle) return Math.floor(raised)
    this.#learned = null
    return fixed
  }

  /** Requests of the last second. */
  #rate(nowMs: number): number {
    const oldestMs = this.#timeOf(this.#times.length)
    if (oldestMs > nowMs - secondMs)
      return (this.#times.length * secondMs) / Math.max(nowMs - oldestMs, 1)
    let count = 0
    for (const ms of this.#times) if (ms > nowMs - secondMs && ms <= nowMs) count += 1
    return count
  }

  /** Time of the request `back` requests ago; 1: the last one. */
  #timeOf(back: number): number {
    const { length } = this.#times
    return this.#times[(this.#next - back + length) % length] as number
  }

  /** Requests of this day, UTC. */
  #today(): number {
    const day = Math.floor(this.#clock.wallMs() / dayMs)
    if (day !== this.#day) this.#sentToday = 0
    this.#day = day
    return this.#sentToday
  }
}
