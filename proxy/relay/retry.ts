// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isRepeatable, type Call } from './call.ts'
import { CallAborted, RelayError, errorKinds } from './errors.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'
import { moreTelling, type TrustIn } from './telling.ts'

export interface RetryLimits {
  /** Retries of attempts that reached an upstream; 0 switches all retries off. */
  readonly retryLimit: number
}

/**
 * Asks again, elsewhere, when an attempt failed in a way that another upstream may not. An attempt
 * that never reached its upstream costs an attempt, but no retry: so a pool with several dead
 * upstreams still gets the call to a living one.
 */
export function retry(limits: RetryLimits, clock: Clock, trustIn: TrustIn): Step {
  return (next) => async (call) => {
    if (clock.nowMs() >= call.journal.deadlineMs)
      throw new RelayError(errorKinds.timeout, 'the time of the call is used up')
    let best: AttemptFailed | null = null
    let retries = 0
    for (let again = call; ; again = { ...call, attemptKind: 'retry' }) {
      try {
        return await next(again)
      } catch (error) {
        if (call.signal.aborted) throw new CallAborted()
        if (!(error instanceof AttemptFailed)) return settle(best, call, error)
        best = moreTelling(best, error, trustIn)
        if (!mayRetry(call, error, limits, retries, clock)) return settle(best, call, null)
        if (error.costsRetry) retries += 1
      }
    }
  }
}

function mayRetry(
  call: Call,
  failed: AttemptFailed,
  { retryLimit }: RetryLimits,
  retries: number,
  clock: Clock,
): boolean {
  const { asked, journal } = call
  if (!failed.failure.retry || retryLimit === 0 || !isRepeatable(call)) return false
  if (journal.isSpent(clock.nowMs())) return false
  // What may have been done, and what is about one node's own state, is not asked twice.
  return failed.costsRetry ? asked.kind === 'read' && retries < retryLimit : true
}

/** No attempt is left: the upstream's own error goes to the client, else one of the router's. */
export function settle(best: AttemptFailed | null, { journal }: Call, error: unknown): Reply {
  // Among them what is only doubted: nothing better came, and it may be true.
  if (best?.reply) return best.reply
  if (isDefect(error)) throw error
  const { attempts } = journal
  const story = attempts.map(({ upstream, result }) =>
    typeof result === 'object' && result ? `${upstream}: ${result.name}` : upstream,
  )
  const told = `(${story.join(', ')})`
  const cause = best ?? error
  // An answer that is broken says nothing: only one that reads well can be a lie.
  if (attempts.some(({ violation }) => violation !== null && violation.check !== 'envelope'))
    throw new RelayError(errorKinds.integrity, `no upstream told the truth ${told}`, { cause })
  if (best === null) throw error
  if (best.fault?.fault === 'unsendable')
    throw new RelayError(errorKinds.unsendable, 'the request cannot be put to a node', { cause })
  const kind = best.timedOut ? errorKinds.timeout : errorKinds.upstreamFailed
  throw new RelayError(kind, `no upstream answered ${told}`, { cause })
}

/** Neither a failed attempt nor a failure that the router tells the client. */
function isDefect(error: unknown): boolean {
  return error !== null && !(error instanceof RelayError)
}
