// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { finalDistance, lastPoint } from '../chain/finality.ts'
import type { Cancel } from '../clock/clock.ts'
import { type ChosenUrl, drawCandidates } from '../upstream/candidates.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { release } from '../upstream/wire.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import type { Exchange } from './exchange.ts'
import { Broadcast } from './broadcast.ts'
import {
  type AttemptKind,
  type Call,
  isRead,
  isRepeatable,
  isWhole,
  maySendAgain,
  type Cancelled,
} from './call.ts'
import { CallAborted, RelayError, errorKinds, isUnanswered } from './errors.ts'
import { namedWaitMs } from './hedge.ts'
import { learnHistory } from './learn-history.ts'
import { LimitWait } from './limit-wait.ts'
import {
  awaitsVerification,
  firstBackoffMs,
  maxBackoffMs,
  Needs,
  noReply,
  rateLimited,
} from './needs.ts'
import { atLeastTip } from './pin.ts'
import { relayContextOf, type RelayOptions, type RelayContext } from './relay-context.ts'
import { isTrouble, morePreferred, type Reply } from './reply.ts'
import { ViolationQuorum } from './violation-quorum.ts'

/**
 * Runs a call and returns its reply.
 * @throws RelayError when no upstream could serve it
 * @throws CallAborted when its client disconnected
 */
export type Relay = (call: Call) => Promise<Reply>

/** The relay of one listener. */
export function createRelay(options: RelayOptions): Relay {
  const context = relayContextOf(options)
  return (call) => {
    const reply = new Promise<Reply>((resolve, reject) => begin(context, call, resolve, reject))
    const { known } = context
    return call.method.kind === 'write' ? reply.then((own) => known.shared(call, own)) : reply
  }
}

/**
 * Reports each call to the watch. A call that is pinned to known heads waits while an idle pool
 * polls them, since its answer would otherwise be as old as those heads. Other calls do not wait.
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

function begin(context: RelayContext, call: Call, resolve: Resolve, reject: Reject): void {
  const { journal, signal, method } = call
  const { breaker } = context
  const config = context.config.now
  const nowMs = context.clock.nowMs()
  journal.budgetMs = config.processingTimeoutMs + namedWaitMs(call)
  journal.maxAttempts = method.kind === 'write' ? Infinity : config.maxAttempts
  if (signal.aborted) return reject(new CallAborted())
  if (nowMs >= journal.deadlineMs)
    return reject(new RelayError(errorKinds.timeout, 'the deadline of the call has passed'))
  // While URLs are in cooldown, one call in a while may try one.
  if (!breaker.admits(call, nowMs)) {
    const needs = new Needs(call)
    const message = 'no upstream is up; calls fail at once until one is'
    if (!context.pool.nextInCooldown(needs)) {
      context.pool.tryToVerify(needs)
      return reject(
        rateLimited(context.pool, needs) ?? new RelayError(errorKinds.breakerOpen, message),
      )
    }
  }
  const answered = (reply: Reply) => {
    breaker.ended(call, !isTrouble(reply))
    resolve(reply)
  }
  const failed = (error: unknown) => {
    breaker.ended(call, isUnanswered(error) ? false : null)
    if (journal.attempts.length === 0) context.pool.tryToVerify(new Needs(call))
    reject(error)
  }
  if (method.kind === 'write' && isWhole(call))
    new Broadcast(context, call, answered, failed).start(nowMs)
  else new FailoverAttempts(context, call, answered, failed).start(nowMs)
}

/** How long a call waits for its floor. The minimum covers the polling interval on fast chains. */
const floorWait = { blocks: 2, minMs: 1_000 } as const
/** Longest delay, which doubles each time a slow attempt finds no upstream for a hedge. */
const maxHedgeDelayMs = 1_000

/**
 * Tries upstreams one after the other: select, send, validate, and repeat while that may help. A
 * slow attempt gets a hedge at another upstream. A late attempt continues beside a retry. The first
 * answer wins, and the other attempts are aborted.
 */
class FailoverAttempts implements AttemptOwner {
  readonly #context: RelayContext
  readonly #call: Call
  readonly #needs: Needs
  readonly #resolve: Resolve
  readonly #reject: Reject
  readonly #isHedged: boolean
  readonly #running: Attempt[] = []
  #suspects: ViolationQuorum | null = null
  #best: Exchange | null = null
  /** Its empty answer awaits confirmation by another upstream. */
  #unconfirmed: Exchange | null = null
  #retries = 0
  /** Start of the first attempt or of the last retry. */
  #triedMs = 0
  #hedgeDelayMs = 0
  #cancelPause: Cancel | null = null
  /** The URL in cooldown that it tried. */
  #trial: ChosenUrl | null = null
  #limitWait: LimitWait | null = null
  #isOver = false
  readonly #leave = () => {
    // No second upstream has confirmed or refuted the violation, so nothing is blamed.
    this.#suspects = null
    this.#fail(new CallAborted(), this.#context.clock.nowMs())
  }

  constructor(context: RelayContext, call: Call, resolve: Resolve, reject: Reject) {
    this.#context = context
    this.#call = call
    this.#needs = new Needs(call)
    this.#resolve = resolve
    this.#reject = reject
    // A call that waits for an event is slow at every node.
    const mayHelp = isRead(call) && isWhole(call) && !call.method.waitsForBlock
    this.#isHedged = mayHelp && context.config.now.retryLimit > 0
  }

  start(nowMs: number): void {
    this.#call.signal.addEventListener('abort', this.#leave, { once: true })
    if (this.#isHedged) this.#context.hedging.budget.earn()
    this.#try('first', nowMs)
  }

  slow(attempt: Attempt, nowMs: number): void {
    if (attempt.isLate) {
      this.#best ??= attempt.exchange
      return this.#goOn(attempt.exchange, nowMs)
    }
    const { budget } = this.#context.hedging
    if (!this.#call.journal.isSpent(nowMs) && budget.has(nowMs) && this.#begin('hedge', nowMs))
      return budget.spend()
    attempt.slowAfter(this.#hedgeDelayMs, nowMs)
    this.#hedgeDelayMs = Math.min(this.#hedgeDelayMs * 2, maxHedgeDelayMs)
  }

  ended(attempt: Attempt, nowMs: number): void {
    this.#running.splice(this.#running.indexOf(attempt), 1)
    const { exchange, defect, isLate } = attempt
    if (defect) return this.#fail(defect, nowMs)
    const { failure, violation, reply, record } = exchange
    if (failure === null && reply) {
      const isMissing = record.missedBlock && this.#context.config.now.retryMissingBlocks
      if (!learnHistory(exchange, reply, this.#call, this.#context) && !isMissing) {
        const empty = reply.refusal && this.#unconfirmed?.reply
        return this.#answered(empty || reply, nowMs, isLate)
      }
      this.#unconfirmed ??= exchange
      return this.#goOn(exchange, nowMs)
    }
    if (violation) {
      this.#suspects ??= new ViolationQuorum(this.#context.validator)
      if (this.#suspects.add(exchange) && reply) return this.#answered(reply, nowMs)
    }
    this.#best = morePreferred(this.#best, exchange)
    // A late attempt has started its retry already.
    if (isLate) this.#conclude(nowMs)
    else this.#goOn(exchange, nowMs)
  }

  /** Retries after a failed or late attempt, unless a running attempt still has time. */
  #goOn(failed: Exchange, nowMs: number): void {
    if (this.#cancelPause || this.#running.some(({ isLate }) => !isLate)) return
    if (!this.#mayRetry(failed, nowMs)) return this.#conclude(nowMs)
    if (mayBeExecuted(failed)) this.#retries += 1
    const backoffMs = this.#backoffMs(nowMs)
    if (backoffMs <= 0) this.#try('retry', nowMs)
    else this.#pause(backoffMs, 'retry')
  }

  #pause(ms: number, kind: AttemptKind): void {
    this.#cancelPause = this.#context.clock.after(ms, () => {
      this.#cancelPause = null
      this.#try(kind, this.#context.clock.nowMs())
    })
  }

  #mayRetry(failed: Exchange, nowMs: number): boolean {
    const { pick } = this.#context.pool
    const { journal, directives } = this.#call
    const { retryLimit } = this.#context.config.now
    const { range, retry = true } = failed.failure ?? {}
    this.#needs.untriedOnly = false
    // Others probably have the same limit, and a refused request costs as much as an answered one.
    // Otherwise a smaller range, or upstreams that were not named, help more than a repeat.
    const mayPass = failed.fault && directives.only === null
    const isCut = () => (range ? range.limits !== 'work' : !mayPass && pick.repeats(this.#needs))
    if (!retry || retryLimit === 0 || !isRepeatable(this.#call)) return false
    if (journal.isSpent(nowMs) || (journal.isCuttable && isCut())) return false
    return mayBeExecuted(failed) ? maySendAgain(this.#call) && this.#retries < retryLimit : true
  }

  /** Delay before an upstream is retried: a restarting node refuses connections at once. */
  #backoffMs(nowMs: number): number {
    this.#needs.untriedOnly = false
    if (!this.#context.pool.pick.repeats(this.#needs)) return 0
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
    // A pause before this attempt may have used up the time.
    if (this.#call.journal.isSpent(nowMs) || !this.#begin(kind, nowMs)) this.#conclude(nowMs)
  }

  /** @returns whether an upstream was available */
  #begin(kind: AttemptKind, nowMs: number): boolean {
    const { pool, config, selectionStats } = this.#context
    const call = this.#call
    this.#needs.untriedOnly = kind === 'hedge'
    const { strategy } = config.now
    const { journal } = call
    const upstream = pool.pick.next(this.#needs, strategy, journal)
    if (selectionStats && strategy !== 'round-robin')
      journal.candidates = drawCandidates(journal.considered) ?? journal.candidates
    if (!upstream)
      return (
        kind !== 'hedge' && (this.#waitsForLimit(kind, nowMs) || this.#tryInCooldown(kind, nowMs))
      )
    return this.#launch(upstream, kind, nowMs)
  }

  #waitsForLimit(kind: AttemptKind, nowMs: number): boolean {
    this.#limitWait ??= new LimitWait(this.#context, this.#needs)
    const isWaiting = this.#limitWait.begin(this.#call.journal, nowMs, (chosen, endMs) => {
      this.#cancelPause = null
      if (chosen) this.#launch(chosen.upstream, kind, endMs, chosen)
      else this.#try(kind, endMs)
    })
    if (!isWaiting) return false
    this.#cancelPause = () => this.#limitWait?.cancel()
    // A call that waits is no trial: another call may be one.
    this.#context.breaker.ended(this.#call, null)
    return true
  }

  /** Tries a URL in cooldown before the client is refused because all are. */
  #tryInCooldown(kind: AttemptKind, nowMs: number): boolean {
    const { journal } = this.#call
    if (journal.attempts.some(({ result }) => result === null)) return false
    const { pool } = this.#context
    const found = pool.nextInCooldown(this.#needs)
    if (!found || !pool.pick.mayTry(found.upstream, found.url, this.#needs)) return false
    if (!found.url.cooldown.beginTrial()) return false
    this.#trial = found
    return this.#launch(found.upstream, kind, nowMs, found)
  }

  #launch(upstream: Upstream, kind: AttemptKind, nowMs: number, chosen?: ChosenUrl): true {
    const call = this.#call
    const { journal } = call
    const attempt = new Attempt(this.#context, this, call, upstream, kind, nowMs, chosen)
    this.#running.push(attempt)
    attempt.start(nowMs)
    if (this.#isHedged && !journal.mayStream) {
      const delayMs = this.#context.hedging.delayMs(call.method, attempt.budgetMs)
      this.#hedgeDelayMs = delayMs + attempt.othersMs
      attempt.slowAfter(this.#hedgeDelayMs, nowMs)
    }
    return true
  }

  /** Ends the call, unless a running attempt may still bring an answer. */
  #conclude(nowMs: number): void {
    const empty = this.#unconfirmed?.reply
    if (empty && !this.#cancelPause && this.#running.every(({ isLate }) => isLate))
      return this.#answered(empty, nowMs)
    if (this.#running.length > 0 || this.#cancelPause || this.#waitsForFloor(nowMs)) return
    const trial = this.#trial
    const limited = trial && rateLimited(this.#context.pool, this.#needs, trial)
    if (limited) return this.#fail(limited, nowMs)
    const reply = this.#best?.fallback
    if (!reply) {
      const { pool, breaker } = this.#context
      const { journal } = this.#call
      const error = noReply(this.#best?.fault ?? null, this.#call, pool, this.#needs)
      const isUnserved = error.kind === errorKinds.noUpstream
      if (isUnserved && awaitsVerification(journal, pool, this.#needs, nowMs)) {
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
   * Schedules a retry while an upstream may still reach the floor of the call. That includes one
   * that reported the block and then lacked it.
   */
  #waitsForFloor(nowMs: number): boolean {
    const { pool, chain, config, breaker } = this.#context
    const { journal } = this.#call
    const needs = this.#needs
    const floor = needs.floor ?? this.#call.method.floor?.block ?? null
    // Upstreams have had a final block for long, so waiting for it would not help.
    const isFinal = floor !== null && floor <= pool.tracker.highestHead - finalDistance(chain)
    if (floor === null || isFinal || journal.isSpent(nowMs)) return false
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

  /** Whether the failure may pass: the upstream recovers, or gets the block that it lacks. */
  #mayPass({ origin, retry, pruned }: FailureClass): boolean {
    const isOlder = (lastPoint(this.#call.method.block) ?? Infinity) < (this.#needs.floor ?? 0)
    return origin === 'upstream' && retry && !(pruned && isOlder)
  }

  #answered(reply: Reply, nowMs: number, isLate = false): void {
    const { method, journal } = this.#call
    if (this.#close('overtaken', nowMs, isLate)) {
      if (!journal.mayStream) this.#context.hedging.answered(method, nowMs - this.#triedMs)
      this.#resolve(atLeastTip(reply, this.#call, this.#context))
    } else release(reply.incoming.body)
  }

  #fail(error: unknown, nowMs: number): void {
    if (this.#close('aborted', nowMs)) this.#reject(error)
  }

  /** @param cause of the end of running attempts */
  #close(cause: Cancelled, nowMs: number, isSlowCall = false): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#call.signal.removeEventListener('abort', this.#leave)
    this.#cancelPause?.()
    for (const attempt of this.#running) attempt.abandon(cause, nowMs, isSlowCall)
    this.#suspects?.blame()
    return true
  }
}

/** Otherwise the node never received it, or was too busy for it. */
function mayBeExecuted({ fault, failure }: Exchange): boolean {
  return (fault?.sent ?? true) && !failure?.busy
}
