// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import type { Call, RelayObserver } from './call.ts'

/** Consecutive unanswered calls, with no upstream in service, that open the breaker. */
const threshold = 2
/** A trial call may hang, so another one is admitted after this time. */
const trialMs = 3_000

/**
 * Fails calls at once after two in a row found no upstream in service, until one is back.
 * While disabled upstreams can be tried, it admits one trial call at a time.
 * A call that excludes every upstream does not count, since others can still be served.
 */
export class Breaker {
  readonly #pool: Pick<Pool, 'hasAny' | 'hasEligible'>
  readonly #observer: Pick<RelayObserver, 'breakerChanged'>
  #emptyPools = 0
  #trial: { readonly call: Call; readonly sinceMs: number } | null = null

  constructor(
    pool: Pick<Pool, 'hasAny' | 'hasEligible'>,
    observer: Pick<RelayObserver, 'breakerChanged'>,
  ) {
    this.#pool = pool
    this.#observer = observer
  }

  /** Whether the call may proceed. If so, the caller must call `ended`. */
  admits(call: Call, nowMs: number): boolean {
    if (!this.#isOpen) return true
    if (this.#pool.hasEligible) {
      this.#count(0)
      return true
    }
    const isTrialDue = this.#trial === null || nowMs - this.#trial.sinceMs >= trialMs
    if (!this.#pool.hasAny || !isTrialDue) return false
    this.#trial = { call, sinceMs: nowMs }
    return true
  }

  /** @param isAnswered null if unknown, for example because the client disconnected */
  ended(call: Call, isAnswered: boolean | null): void {
    const isTrial = this.#trial?.call === call
    if (isTrial) this.#trial = null
    if (isAnswered === null || (isAnswered && this.#emptyPools === 0)) return
    const { hasEligible } = this.#pool
    if (!isAnswered && !hasEligible) this.#count(this.#emptyPools + 1)
    // An answer to a call from before the breaker opened does not close it.
    else if (isAnswered && (hasEligible || isTrial || !this.#isOpen)) this.#count(0)
  }

  get #isOpen(): boolean {
    return this.#emptyPools >= threshold
  }

  #count(emptyPools: number): void {
    const wasOpen = this.#isOpen
    this.#emptyPools = emptyPools
    if (this.#isOpen !== wasOpen) this.#observer.breakerChanged(this.#isOpen)
  }
}
