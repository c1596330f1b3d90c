// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { lastPoint } from '../chain/finality.ts'
import type { Cancel } from '../clock/clock.ts'
import { drawnOf } from '../upstream/candidates.ts'
import { release } from '../upstream/wire.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import { Broadcast } from './broadcast.ts'
import { type AttemptKind, type Call, isRepeatable, isWhole, maySendAgain } from './call.ts'
import { CallAborted, RelayError, errorKinds, isUnanswered } from './errors.ts'
import { learnHistory } from './learn-history.ts'
import { firstBackoffMs, maxVerificationMs, Needs, noReply, rateLimited } from './needs.ts'
import { atLeastTip } from './pin.ts'
import { relayContextOf, type RelayOptions, type RelayContext } from './relay-context.ts'
import { isTrouble, morePreferred, type Reply } from './reply.ts'
import { ViolationQuorum } from './violation-quorum.ts'

/**
 * Runs a call and returns its reply.
 * @throws RelayError when no upstream could serve it
 * @throws CallAborted when its client left
 */
export type Relay = (call: Call) => Promise<Reply>

/** The relay of one listener. */
export function createRelay(options: RelayOptions): Relay {
  const parts = relayContextOf(options)
  return (call) => {
    const reply = new Promise<Reply>((resolve, reject) => begin(parts, call, resolve, reject))
    return call.method.kind === 'write' ? reply.then((own) => parts.known.shared(call, own)) : reply
  }
}

/**
 * Reports each call to the watch. A call that is pinned to known heads waits while a pool at rest polls them; otherwise
 * its answer would be as old as those heads. No other call waits.
 * @param isVoted whether the config cross-validates a method
 */
export function withWake(
  relay: Relay,
  watch: { onRequest(nowMs: number): Promise<unknown> | null },
  isVoted: (method: string) => boolean = () => false,
): Relay {
  return (call) => {
    const heads = watch.onRequest(call.journal.startedMs)
    const { minBlock, crossValidation: vote } = call.directives
    const isPinned = heads && (minBlock !== null || vote !== null || isVoted(call.method.name))
    return isPinned ? heads.then(() => relay(call)) : relay(call)
  }
}

type Resolve = (reply: Reply) => void
type Reject = (error: unknown) => void

function begin(parts: RelayContext, call: Call, resolve: Resolve, reject: Reject): void {
  const { journal, signal, method } = call
  const { breaker } = parts
  const config = parts.config.now
  const nowMs = parts.clock.nowMs()
  journal.budgetMs = config.processingTimeoutMs
  journal.maxAttempts = method.kind === 'write' ? Infinity : config.maxAttempts
  if (signal.aborted) return reject(new CallAborted())
  if (nowMs >= journal.deadlineMs)
    return reject(new RelayError(errorKinds.timeout, 'the time of the call is used up'))
  if (!breaker.admits(call, nowMs)) {
    const why = 'no upstream is up; calls fail at once until one is'
    const limited = rateLimited(parts.pool, new Needs(call))
    return reject(limited ?? new RelayError(errorKinds.breakerOpen, why))
  }
  const answered = (reply: Reply) => {
    breaker.ended(call, !isTrouble(reply))
    resolve(reply)
  }
  const failed = (error: unknown) => {
    breaker.ended(call, isUnanswered(error) ? false : null)
    reject(error)
  }
  if (method.kind === 'write' && isWhole(call))
    new Broadcast(parts, call, answered, failed).start(nowMs)
  else new FailoverAttempts(parts, call, answered, failed).start(nowMs)
}

const maxBackoffMs = 400
/** How long a call waits for the block of its floor. Heads are polled, however fast the chain is. */
const floorWait = { blocks: 2, minMs: 1_000 } as const
/** A slow attempt that found no upstream for a hedge looks again after twice the time, up to this. */
const maxHedgeDelayMs = 1_000

/**
 * Asks one upstream after the other: pick, attempt, verdict, and again while that may help. A slow
 * attempt gets a hedge at another upstream. A late attempt goes on beside a retry. The first answer
 * wins, and the other attempts are aborted.
 */
class FailoverAttempts implements AttemptOwner {
  readonly #parts: RelayContext
  readonly #call: Call
  readonly #needs: Needs
  readonly #resolve: Resolve
  readonly #reject: Reject
  readonly #isHedged: boolean
  readonly #running: Attempt[] = []
  #suspects: ViolationQuorum | null = null
  #best: Attempt | null = null
  /** An empty answer that awaits confirmation by another upstream. */
  #unconfirmed: Attempt | null = null
  #retries = 0
  /** When the first attempt, or the last retry, began. */
  #triedMs = 0
  #hedgeDelayMs = 0
  #cancelPause: Cancel | null = null
  #isOver = false
  readonly #leave = () => {
    // No upstream was asked whether it shows the same.
    this.#suspects = null
    this.#fail(new CallAborted(), this.#parts.clock.nowMs())
  }

  constructor(parts: RelayContext, call: Call, resolve: Resolve, reject: Reject) {
    this.#parts = parts
    this.#call = call
    this.#needs = new Needs(call)
    this.#resolve = resolve
    this.#reject = reject
    this.#isHedged = call.method.kind === 'read' && parts.config.now.retryLimit > 0 && isWhole(call)
  }

  start(nowMs: number): void {
    this.#call.signal.addEventListener('abort', this.#leave, { once: true })
    if (this.#isHedged) this.#parts.hedging.budget.earn()
    this.#try('first', nowMs)
  }

  slow(attempt: Attempt, nowMs: number): void {
    if (attempt.isLate) {
      this.#best ??= attempt
      return this.#goOn(attempt, nowMs)
    }
    const { budget } = this.#parts.hedging
    if (!this.#call.journal.isSpent(nowMs) && budget.has(nowMs) && this.#begin('hedge', nowMs))
      return budget.spend()
    attempt.slowAfter(this.#hedgeDelayMs, nowMs)
    this.#hedgeDelayMs = Math.min(this.#hedgeDelayMs * 2, maxHedgeDelayMs)
  }

  ended(attempt: Attempt, nowMs: number): void {
    this.#running.splice(this.#running.indexOf(attempt), 1)
    const { failure, violation, reply, defect } = attempt
    if (defect) return this.#fail(defect, nowMs)
    if (failure === null && reply) {
      const isMissing = attempt.record.missedBlock && this.#parts.config.now.retryMissingBlocks
      if (!learnHistory(attempt, reply, this.#call, this.#parts) && !isMissing) {
        // An error is no better than an empty answer.
        const empty = reply.refusal && this.#unconfirmed?.reply
        return this.#answered(empty || reply, nowMs, attempt.isLate)
      }
      this.#unconfirmed ??= attempt
      return this.#goOn(attempt, nowMs)
    }
    if (violation) {
      this.#suspects ??= new ViolationQuorum(this.#parts.judge)
      if (this.#suspects.add(attempt) && reply) return this.#answered(reply, nowMs)
    }
    this.#best = morePreferred(this.#best, attempt)
    // When it was late, another attempt began already, or none was left.
    if (attempt.isLate) this.#conclude(nowMs)
    else this.#goOn(attempt, nowMs)
  }

  /** An attempt failed or is late: asks another upstream, unless a running attempt still has time. */
  #goOn(failed: Attempt, nowMs: number): void {
    if (this.#cancelPause || this.#running.some(({ isLate }) => !isLate)) return
    if (!this.#mayRetry(failed, nowMs)) return this.#conclude(nowMs)
    if (isSent(failed)) this.#retries += 1
    const backoffMs = this.#backoffMs(nowMs)
    if (backoffMs <= 0) this.#try('retry', nowMs)
    else this.#pause(backoffMs, 'retry')
  }

  #pause(ms: number, kind: AttemptKind): void {
    this.#cancelPause = this.#parts.clock.after(ms, () => {
      this.#cancelPause = null
      this.#try(kind, this.#parts.clock.nowMs())
    })
  }

  #mayRetry(failed: Attempt, nowMs: number): boolean {
    const { retryLimit } = this.#parts.config.now
    const mayHelp = failed.failure === null || failed.failure.retry
    if (!mayHelp || retryLimit === 0 || !isRepeatable(this.#call)) return false
    if (this.#call.journal.isSpent(nowMs)) return false
    return isSent(failed) ? maySendAgain(this.#call) && this.#retries < retryLimit : true
  }

  /** The wait before an upstream is asked again: a node that restarts refuses connections at once. */
  #backoffMs(nowMs: number): number {
    this.#needs.untriedOnly = false
    if (!this.#parts.pool.pick.repeats(this.#needs)) return 0
    const { attempts, deadlineMs } = this.#call.journal
    const last = attempts.at(-1)
    const times = attempts.filter(
      ({ upstream, kind }) => upstream === last?.upstream && kind !== 'failover',
    ).length
    const apartMs = Math.min(firstBackoffMs * 2 ** (times - 1), maxBackoffMs)
    return Math.min((last?.startedMs ?? nowMs) + apartMs, deadlineMs) - nowMs
  }

  #try(kind: AttemptKind, nowMs: number): void {
    this.#triedMs = nowMs
    // The time or the attempts may have been used up in the meantime.
    if (this.#call.journal.isSpent(nowMs) || !this.#begin(kind, nowMs)) this.#conclude(nowMs)
  }

  /** @returns whether there was an upstream to ask */
  #begin(kind: AttemptKind, nowMs: number): boolean {
    const { pool, config, selectionStats } = this.#parts
    const call = this.#call
    this.#needs.untriedOnly = kind === 'hedge'
    const { strategy } = config.now
    const { journal } = call
    const upstream = pool.pick.next(this.#needs, strategy, journal)
    if (selectionStats && strategy !== 'round-robin')
      journal.candidates = drawnOf(journal.considered) ?? journal.candidates
    if (!upstream) return false
    const attempt = new Attempt(this.#parts, this, call, upstream, kind, nowMs)
    this.#running.push(attempt)
    attempt.start(nowMs)
    if (this.#isHedged && !journal.mayStream) {
      const delayMs = this.#parts.hedging.delayMs(call.method, attempt.budgetMs)
      this.#hedgeDelayMs = delayMs + attempt.othersMs
      attempt.slowAfter(this.#hedgeDelayMs, nowMs)
    }
    return true
  }

  /** No new attempt begins; a running one may still bring an answer. */
  #conclude(nowMs: number): void {
    const empty = this.#unconfirmed?.reply
    if (empty && !this.#cancelPause && this.#running.every(({ isLate }) => isLate))
      return this.#answered(empty, nowMs)
    if (this.#running.length > 0 || this.#cancelPause || this.#waitsForFloor(nowMs)) return
    const reply = this.#best?.fallback
    if (!reply) {
      const { pool, breaker } = this.#parts
      const { attempts, startedMs, deadlineMs } = this.#call.journal
      const untilMs = Math.min(startedMs + maxVerificationMs, deadlineMs)
      const error = noReply(this.#best?.fault ?? null, this.#call, pool, this.#needs)
      const isUnserved = attempts.length === 0 && error.kind === errorKinds.noUpstream
      if (isUnserved && nowMs < untilMs && pool.isVerifying(this.#needs)) {
        // A call that waits is no trial: another call may be one.
        breaker.ended(this.#call, null)
        return this.#pause(firstBackoffMs, 'first')
      }
      return this.#fail(error, nowMs)
    }
    if (reply.refusal === null) this.#suspects = null
    this.#answered(reply, nowMs)
  }

  /**
   * Retries soon while an upstream may still answer at the call's floor: one that has yet to reach it, or one that
   * reported the block and then lacked it.
   */
  #waitsForFloor(nowMs: number): boolean {
    const { pool, chain, config, breaker } = this.#parts
    const { journal } = this.#call
    const needs = this.#needs
    if ((needs.floor === null && !this.#call.method.floor) || journal.isSpent(nowMs)) return false
    const waitMs = Math.max(floorWait.blocks * chain.blockTimeMs, floorWait.minMs)
    const leftMs = Math.min(journal.startedMs + waitMs, journal.deadlineMs) - nowMs
    const { length } = journal.attempts
    const last = journal.attempts.at(-1)?.result ?? null
    const hasFailed = last !== null && typeof last === 'object'
    const mayHelp = hasFailed
      ? config.now.retryLimit > 0 && this.#mayPass(last)
      : pool.mayReach(needs)
    if (leftMs <= 0 || !mayHelp) return false
    if (length > 0 && !(isRepeatable(this.#call) && maySendAgain(this.#call))) return false
    // A call that waits is no trial: another call may be one.
    breaker.ended(this.#call, null)
    needs.isWaiting = true
    pool.pollHeads?.()
    // The limited attempts must last for the whole wait.
    const pauseMs = firstBackoffMs * 2 ** Math.max(0, length - 1)
    this.#pause(Math.min(pauseMs, leftMs), length === 0 ? 'first' : 'retry')
    return true
  }

  /** The upstream may soon recover, or get a block that it lacks. It has had every block below the floor. */
  #mayPass({ origin, retry, pruned }: FailureClass): boolean {
    const isOlder = (lastPoint(this.#call.method.block) ?? Infinity) < (this.#needs.floor ?? 0)
    return origin === 'upstream' && retry && !(pruned && isOlder)
  }

  #answered(reply: Reply, nowMs: number, isLate = false): void {
    const { method, journal } = this.#call
    if (this.#close(nowMs, isLate)) {
      if (!journal.mayStream) this.#parts.hedging.answered(method, nowMs - this.#triedMs)
      this.#resolve(atLeastTip(reply, this.#call, this.#parts))
    } else release(reply.incoming.body)
  }

  #fail(error: unknown, nowMs: number): void {
    if (this.#close(nowMs)) this.#reject(error)
  }

  #close(nowMs: number, isSlowCall = false): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#call.signal.removeEventListener('abort', this.#leave)
    this.#cancelPause?.()
    for (const attempt of this.#running) attempt.abandon(nowMs, isSlowCall)
    this.#suspects?.blame()
    return true
  }
}

function isSent({ fault }: Attempt): boolean {
  return fault?.sent ?? true
}
