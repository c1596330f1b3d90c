// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { Cancellation } from '../clock/cancellation.ts'
import type { Due } from '../clock/clock.ts'
import { isAt } from '../upstream/wanted.ts'
import type { ChosenUrl } from '../upstream/candidates.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { type Incoming, release, TransportError } from '../upstream/wire.ts'
import { type AttemptKind, type Call, isRepeatable, maySendAgain, type Cancelled } from './call.ts'
import { ConcurrencySlot } from './concurrency-slot.ts'
import { Exchange } from './exchange.ts'
import { usualBudgetMs } from './hedge.ts'
import { addonsOf, floorOf } from './needs.ts'
import { atKnownHead } from './pin.ts'
import type { RelayContext } from './relay-context.ts'
import { StreamedAnswer } from './streamed-answer.ts'
import { requestTo } from './traced-request.ts'
import type { NodeUrl } from '../upstream/node-url.ts'

/** Extra time for an attempt per other item of the same batch request. */
const msPerOther = 20

/** The call that owns an attempt. `ended` is the last callback. */
export interface AttemptOwner {
  /** The attempt is slow but runs on, so a hedge may start. If `isLate`, its budget is used up. */
  slow(attempt: Attempt, nowMs: number): void
  ended(attempt: Attempt, nowMs: number): void
}

/**
 * One attempt of a call at one upstream: it sends, keeps the time, and fails over from the best URL
 * to the next. The exchange with each URL has an outcome of its own.
 */
export class Attempt implements Due {
  readonly upstream: Upstream
  /** The exchange with the current URL. */
  exchange: Exchange
  dueMs = Infinity
  index = -1
  /** Extra time for the other items of the same request. */
  othersMs = 0
  /** The unexpected exception that ended it; null if there was none. */
  defect: unknown = null
  readonly #context: RelayContext
  readonly #owner: AttemptOwner
  readonly #call: Call
  readonly #urls: Iterator<NodeUrl, undefined> & Iterable<NodeUrl>
  readonly #slot: ConcurrencySlot
  readonly #cancellation = new Cancellation()
  #slowAtMs = Infinity
  #lateAtMs = Infinity
  /** Whether it fails at the end of its budget; otherwise it is late and still runs. */
  #endsWhenLate = false
  #isOver = false

  /** @param chosen the URL to use, although it is in cooldown or at its limit; null: the best */
  constructor(
    context: RelayContext,
    owner: AttemptOwner,
    call: Call,
    upstream: Upstream,
    kind: AttemptKind,
    nowMs: number,
    chosen: ChosenUrl | null = null,
  ) {
    this.upstream = upstream
    this.#context = context
    this.#owner = owner
    this.#call = atKnownHead(call, upstream)
    const floor = floorOf(call)
    const able = chosen ? [chosen.url] : upstream.urlsFor(addonsOf(call), call.method)
    const urls = able.values()
    // The filter is lazy because heads and limits may change before a failover.
    this.#urls =
      chosen || (floor === null && !able.some(hasLimit))
        ? urls
        : urls.filter((each) => isAt(floor, each) && each.admits())
    const { value: url, done } = this.#urls.next()
    if (done) throw new Error('an upstream was chosen that has no URL for the call')
    this.exchange = new Exchange(context, this.#call, chosen ?? { upstream, url }, kind, nowMs)
    this.#slot = new ConcurrencySlot(upstream, call.request.body)
  }

  get isLate(): boolean {
    return this.exchange.isLate
  }

  /** Milliseconds after which it is late, or fails. */
  get budgetMs(): number {
    return this.exchange.record.budgetMs ?? Infinity
  }

  start(nowMs: number): void {
    const { url, record } = this.exchange
    this.#cancellation.underWay = null
    const request = requestTo(url, this.#call, record, this.#context)
    this.othersMs = request.batch ? (request.batch.token.size - 1) * msPerOther : 0
    this.#setBudget(nowMs)
    this.#rearm(nowMs)
    url.transport.send(request, this.#cancellation).then(
      (received) => this.#received(received),
      (error: unknown) => this.#failedToSend(error),
    )
  }

  /** Calls `slow` of the owner once after `ms`. */
  slowAfter(ms: number, nowMs: number): void {
    this.#slowAtMs = nowMs + ms
    this.#rearm(nowMs)
  }

  #rearm(nowMs: number): void {
    if (this.#isOver) return
    this.dueMs = Math.min(this.#slowAtMs, this.#lateAtMs, this.#call.journal.deadlineMs)
    this.#context.dueTimes.add(this, nowMs)
  }

  due(nowMs: number): void {
    if (nowMs >= this.#lateAtMs && !this.#endsWhenLate) this.#becomeLate(nowMs)
    const isOver = nowMs >= this.#call.journal.deadlineMs || nowMs >= this.#lateAtMs
    if (isOver) return this.#timeOut(nowMs)
    if (nowMs >= this.#slowAtMs) {
      this.#slowAtMs = Infinity
      this.#owner.slow(this, nowMs)
    }
    this.#rearm(nowMs)
  }

  #becomeLate(nowMs: number): void {
    this.#lateAtMs = this.#slowAtMs = Infinity
    this.exchange.becomeLate()
    this.#owner.slow(this, nowMs)
  }

  /**
   * Cancels the attempt: another one won, the client disconnected, or the call failed.
   * @param isSlowCall whether the winning answer was late as well
   */
  abandon(cause: Cancelled, nowMs: number, isSlowCall: boolean): void {
    if (this.#isOver) return
    this.#close()
    this.exchange.abandon(cause, isSlowCall, this.#giveUp(nowMs), nowMs)
  }

  /** Aborts the exchange. @returns the time without an answer and the progress, for the log */
  #giveUp(nowMs: number): string {
    const { progress } = this.#cancellation
    this.#cancellation.abort()
    const { startedMs } = this.exchange.record
    return `no answer in ${Math.round(nowMs - startedMs)} ms: ${progress}`
  }

  /** Computes the budget of the attempt and the time when it is late. */
  #setBudget(nowMs: number): void {
    const { method, directives, journal } = this.#call
    const { chain, config } = this.#context
    const { url, record } = this.exchange
    const urlMs = url.timeoutMs
    const usualMs = usualBudgetMs(method, chain, config.now, urlMs) + this.othersMs
    const leftMs = journal.deadlineMs - nowMs
    const ownMs = directives.relayTimeoutMs ?? (journal.mayStream ? Infinity : usualMs)
    const budgetMs = Math.min(ownMs, leftMs)
    const isCutShort = journal.mayStream || budgetMs < usualMs
    record.isCutShort = isCutShort
    const isTimed = urlMs !== null || directives.relayTimeoutMs !== null || Boolean(method.waitMs)
    this.#endsWhenLate = isTimed || isCutShort
    record.budgetMs = budgetMs
    this.#lateAtMs = nowMs + budgetMs
  }

  #timeOut(nowMs: number): void {
    this.exchange.timeOut(this.#giveUp(nowMs), nowMs)
    this.#settle(nowMs)
  }

  #received(incoming: Incoming): void {
    if (this.#isOver) return release(incoming.body)
    const nowMs = this.#context.clock.nowMs()
    try {
      this.exchange.receive(incoming, this.#slot, nowMs)
      this.#settle(nowMs)
    } catch (error) {
      release(incoming.body)
      this.#endWithDefect(error, nowMs)
    }
  }

  #failedToSend(error: unknown): void {
    if (this.#isOver) return
    const nowMs = this.#context.clock.nowMs()
    if (!(error instanceof TransportError)) return this.#endWithDefect(error, nowMs)
    this.exchange.failToSend(error, nowMs)
    this.#settle(nowMs)
  }

  #endWithDefect(error: unknown, nowMs: number): void {
    this.#close()
    this.exchange.endWithDefect(nowMs)
    this.defect = error
    this.#owner.ended(this, nowMs)
  }

  #settle(nowMs: number): void {
    const { failure } = this.exchange
    if (failure && this.#failsOver(failure, nowMs)) return this.start(nowMs)
    this.#close()
    this.#owner.ended(this, nowMs)
  }

  /** Selects the next URL, unless time is up or the node may have executed the call. */
  #failsOver(failure: FailureClass, nowMs: number): boolean {
    const call = this.#call
    if (this.isLate || !isRepeatable(call) || call.journal.isSpent(nowMs)) return false
    const { fault } = this.exchange
    const isUnsent = fault?.sent === false && failure.retry
    const isSentAgain = maySendAgain(call) && failure.retry && fault?.fault !== 'timeout'
    if (!failure.cooldown && !failure.busy && !isUnsent && !isSentAgain) return false
    const addons = addonsOf(call)
    for (const next of this.#urls) {
      // Another call may have put it into cooldown.
      if (!next.serves(addons)) continue
      const chosen = { upstream: this.upstream, url: next }
      this.exchange = new Exchange(this.#context, call, chosen, 'failover', nowMs)
      return true
    }
    return false
  }

  #close(): void {
    this.#isOver = true
    // A stream frees its slot when it ends.
    if (!(this.exchange.reply?.incoming.body instanceof StreamedAnswer)) this.#slot.leave()
    this.#context.dueTimes.delete(this)
  }
}

function hasLimit({ limit }: NodeUrl): boolean {
  return limit !== null
}
