// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { release } from '../upstream/wire.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isRepeatable, type Call, type Late } from './call.ts'
import { CallAborted, RelayError, errorKinds } from './errors.ts'
import type { Reply } from './reply.ts'
import { isDefect, settle } from './settle.ts'
import type { Relay, Step } from './step.ts'
import { moreTelling, type TrustIn } from './telling.ts'

export interface RetryLimits {
  /** Retries of attempts that reached an upstream; 0 switches all retries off. */
  readonly retryLimit: number
}

/**
 * Asks again, elsewhere, when an attempt failed in a way that another upstream may not, or is late.
 * What is late goes on beside the retry, and the first answer wins: a call that takes long everywhere
 * is answered as long as it has time. An attempt that never reached its upstream costs an attempt,
 * but no retry: so a pool with several dead upstreams still gets the call to a living one.
 */
export function retry(limits: RetryLimits, clock: Clock, trustIn: TrustIn): Step {
  return (next) => async (call) => {
    if (clock.nowMs() >= call.journal.deadlineMs)
      throw new RelayError(errorKinds.timeout, 'the time of the call is used up')
    return new Tries(next, call, limits, clock, trustIn).run()
  }
}

/** A first attempt or a retry, with the hedges beside it. */
interface Try {
  isLate: boolean
  takeBack: () => void
}

/** The tries of one call: the newest, and those that are late. */
class Tries {
  readonly #next: Relay
  readonly #call: Call
  readonly #limits: RetryLimits
  readonly #clock: Clock
  readonly #trustIn: TrustIn
  readonly #running = new Set<Try>()
  #best: AttemptFailed | null = null
  #retries = 0
  /** No further try begins. `error`: nobody is left to ask, or something is broken. */
  #last: { readonly error: unknown } | null = null
  #isOver = false
  #resolve: (reply: Reply) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(next: Relay, call: Call, limits: RetryLimits, clock: Clock, trustIn: TrustIn) {
    this.#next = next
    this.#call = call
    this.#limits = limits
    this.#clock = clock
    this.#trustIn = trustIn
  }

  run(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#begin(this.#call)
    })
  }

  #begin(call: Call): void {
    const one: Try = { isLate: false, takeBack: () => {} }
    this.#running.add(one)
    const began = (takeBack: () => void) => {
      one.takeBack = takeBack
    }
    const late: Late = (failed) => {
      one.isLate = true
      this.#goOn(failed)
    }
    this.#next({ ...call, began, late }).then(
      (reply) => {
        this.#running.delete(one)
        // Of two that answer in one turn, one wins.
        if (this.#isOver) release(reply.incoming.body)
        this.#end(() => reply)
      },
      (error: unknown) => {
        this.#running.delete(one)
        if (!this.#isOver) this.#failed(one, error)
      },
    )
  }

  #failed({ isLate }: Try, error: unknown): void {
    if (this.#call.signal.aborted) return this.#end(() => raise(new CallAborted()))
    const isFailure = error instanceof AttemptFailed
    if (isFailure) this.#best = moreTelling(this.#best, error, this.#trustIn)
    // When it was late another try was begun, or none was left.
    if (!isLate || (!isFailure && isDefect(error))) this.#goOn(error)
    else if (this.#last) this.#conclude(this.#last.error)
  }

  /** The newest try brought nothing, or nothing yet. */
  #goOn(failed: unknown): void {
    const call = this.#call
    if (!(failed instanceof AttemptFailed)) return this.#conclude(failed)
    if (!mayRetry(call, failed, this.#limits, this.#retries, this.#clock))
      return this.#conclude(null)
    if (failed.costsRetry) this.#retries += 1
    this.#begin({ ...call, attemptKind: 'retry' })
  }

  /** Nothing new is begun; who is late may still answer. */
  #conclude(error: unknown): void {
    this.#last = { error }
    if (this.#running.size === 0 || isDefect(error))
      this.#end(() => settle(this.#best, this.#call, error))
  }

  #end(outcome: () => Reply): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { takeBack } of this.#running) takeBack()
    try {
      this.#resolve(outcome())
    } catch (error) {
      this.#reject(error)
    }
  }
}

function raise(error: Error): never {
  throw error
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
