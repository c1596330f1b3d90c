// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import type { Call, RelayObserver } from './call.ts'

/** Calls in a row that ended without an answer, and with no upstream in service, that open the breaker. */
const threshold = 2
/** A trial may hang: after this long another call is let through. */
const trialMs = 3_000

/**
 * Fails calls at once after two in a row met an empty pool, until an upstream is in service again.
 * While disabled upstreams may be asked, one call at a time is let through on trial. A call that
 * excluded or demanded too much itself does not count: other upstreams are in service then.
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

  /** Whether the call may be made. It must end with `ended` then. */
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

  /** @param isAnswered null: not known, for example since the client left */
  ended(call: Call, isAnswered: boolean | null): void {
    const isTrial = this.#trial?.call === call
    if (isTrial) this.#trial = null
    if (isAnswered === null || (isAnswered && this.#emptyPools === 0)) return
    const { hasEligible } = this.#pool
    if (!isAnswered && !hasEligible) this.#count(this.#emptyPools + 1)
    // While it is open, an answer to a call that began before does not close it.
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
