// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Pool } from '../upstream/pool.ts'
import { RelayError, errorKinds, type ErrorKind } from './errors.ts'
import type { RelayObserver } from './observer.ts'
import type { Step } from './step.ts'
import { tellsOfTrouble } from './telling.ts'

/** Calls in a row that ended with nobody in service that open the breaker. */
const threshold = 2
/** A trial may hang: after so long another call has a turn. */
const trialMs = 3_000

/** With these a call ends that nobody has answered. */
const unanswered: readonly ErrorKind[] = [
  errorKinds.noUpstream,
  errorKinds.upstreamFailed,
  errorKinds.timeout,
]

/**
 * Fails calls at once after two in a row met an empty pool, until an upstream is in service again. One call
 * at a time is let through on trial, while there are disabled upstreams that may be asked. A call that
 * excluded or demanded too much itself does not count.
 */
export function breaker(
  pool: Pick<Pool, 'hasAny' | 'hasEligible'>,
  clock: Clock,
  observer: RelayObserver,
): Step {
  let emptyPools = 0
  /** When the trial that is under way began. */
  let trialSinceMs: number | null = null
  const set = (count: number) => {
    const wasOpen = emptyPools >= threshold
    emptyPools = count
    if (wasOpen !== count >= threshold) observer.breakerChanged(count >= threshold)
  }
  const mayTry = () =>
    pool.hasAny && (trialSinceMs === null || clock.nowMs() - trialSinceMs >= trialMs)
  return (next) => async (call) => {
    if (emptyPools >= threshold && pool.hasEligible) set(0)
    const isTrial = emptyPools >= threshold
    if (isTrial && !mayTry())
      throw new RelayError(
        errorKinds.breakerOpen,
        'no upstream is up; calls fail at once until one is',
      )
    const sinceMs = clock.nowMs()
    if (isTrial) trialSinceMs = sinceMs
    try {
      const reply = await next(call)
      if (tellsOfTrouble(reply) && !pool.hasEligible) set(emptyPools + 1)
      else if (!isTrial || pool.hasEligible) set(0)
      return reply
    } catch (error) {
      const isUnanswered = error instanceof RelayError && unanswered.includes(error.kind)
      if (isUnanswered && !pool.hasEligible) set(emptyPools + 1)
      throw error
    } finally {
      if (isTrial && trialSinceMs === sinceMs) trialSinceMs = null
    }
  }
}
