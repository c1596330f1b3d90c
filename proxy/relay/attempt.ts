// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { Cancellation } from '../clock/cancellation.ts'
import type { Due } from '../clock/clock.ts'
import {
  header,
  type Incoming,
  parseRetryAfter,
  release,
  TransportError,
} from '../upstream/wire.ts'
import { isAt } from '../upstream/pick.ts'
import type { NodeUrl, Upstream } from '../upstream/upstream.ts'
import type { AttemptKind, AttemptRecord, Call } from './call.ts'
import { isLight, isRepeatable, maySendAgain } from './call.ts'
import { usualBudgetMs } from './hedge.ts'
import { addonsOf, floorOf } from './needs.ts'
import type { RelayContext } from './relay-context.ts'
import { atKnownHead } from './pin.ts'
import type { Reply, StreamValidator } from './reply.ts'
import { ConcurrencySlot } from './concurrency-slot.ts'
import { isStreamFailure, StreamedAnswer, type StreamFailure } from './streamed-answer.ts'
import { observeChain, observeWrite } from './shown-block.ts'
import { requestTo } from './traced-request.ts'
import type { ValidatedAnswer } from './answer-validator.ts'
import { mayBeRight, type Violation } from '../integrity/violation.ts'

const ownDefect = 'a defect of the router'
/** Extra time for an attempt per other item of the same batch request. */
const msPerOther = 20
const lateFault = new TransportError('timeout', 'no answer in time')

/** The call that owns an attempt. `ended` is the last callback. */
export interface AttemptOwner {
  /** The attempt is slow but runs on, so a hedge may start. If `isLate`, its budget is used up. */
  slow(attempt: Attempt, nowMs: number): void
  ended(attempt: Attempt, nowMs: number): void
}

/**
 * One attempt of a call at one upstream. It tries the best URL first and fails over to the next.
 * It validates the answer and updates the health of the upstream.
 */
export class Attempt implements Due {
  readonly upstream: Upstream
  url: NodeUrl
  record: AttemptRecord
  dueMs = Infinity
  index = -1
  isLate = false
  /** Failure class, also of a late attempt; null while it runs in time and after an answer. */
  failure: FailureClass | null = null
  /** Transport error that prevented a complete answer; null if there is none. */
  fault: TransportError | null = null
  /** The answer for the client; after a failure, the reply to fall back to. */
  reply: Reply | null = null
  /** Extra time for the other items of the same request. */
  othersMs = 0
  /** The unexpected exception that ended it; null if there was none. */
  defect: unknown = null
  readonly #context: RelayContext
  readonly #owner: AttemptOwner
  readonly #call: Call
  readonly #urls: Iterator<NodeUrl, undefined> & Iterable<NodeUrl>
  readonly #session: ConcurrencySlot
  readonly #cancellation = new Cancellation()
  #slowAtMs = Infinity
  #lateAtMs = Infinity
  /** Whether it fails at the end of its budget; otherwise it is late and still runs. */
  #endsWhenLate = false
  #isOver = false
  #answer: Incoming | null = null
  #shownBlock: number | null = null
  /** Reverts the failure that was counted when the attempt became late. */
  #excuseLateness: (() => void) | null = null

  constructor(
    context: RelayContext,
    owner: AttemptOwner,
    call: Call,
    upstream: Upstream,
    kind: AttemptKind,
    nowMs: number,
  ) {
    this.upstream = upstream
    this.#context = context
    this.#owner = owner
    this.#call = atKnownHead(call, upstream)
    const floor = floorOf(call)
    const urls = upstream.urlsFor(addonsOf(call), call.method).values()
    // The filter is lazy because heads may change before a failover.
    this.#urls = floor === null ? urls : urls.filter((each) => isAt(floor, each))
    const { value: url, done } = this.#urls.next()
    if (done) throw new Error('an upstream was chosen that has no URL for the call')
    this.url = url
    this.record = call.journal.begin(upstream.name, kind, nowMs, url.printable)
    this.#session = new ConcurrencySlot(upstream, call.request.body)
  }

  /** Milliseconds after which it is late, or fails. */
  get budgetMs(): number {
    return this.record.budgetMs ?? Infinity
  }

  get violation(): Violation | null {
    return this.record.violation
  }

  /** Reply of a failed attempt that the client gets if no better one comes. */
  get fallback(): Reply | null {
    return this.violation && !mayBeRight(this.violation) ? null : this.reply
  }

  start(nowMs: number): void {
    this.failure = this.fault = this.reply = this.#cancellation.underWay = null
    const request = requestTo(this.url, this.#call, this.record, this.#context)
    const shared = this.record.kind === 'first' ? this.#call.shared : undefined
    this.othersMs = (shared?.others ?? 0) * msPerOther
    this.#setBudget(nowMs)
    this.#rearm(nowMs)
    const incoming = shared
      ? shared.send(this.url, request, this.#cancellation)
      : this.url.transport.send(request, this.#cancellation)
    incoming.then(
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
    this.isLate = true
    this.failure = this.#timeout
    this.fault = lateFault
    this.#excuseLateness = this.upstream.late(this.url, this.failure, this.record.startedMs)
    this.#owner.slow(this, nowMs)
  }

  /**
   * Cancels the attempt: another one won, the client disconnected, or the call failed.
   * @param isSlowCall whether the winning answer was late as well
   */
  abandon(nowMs: number, isSlowCall: boolean): void {
    if (this.#isOver) return
    this.#close()
    if (isSlowCall) this.#excuseLateness?.()
    const silence = this.#giveUp(nowMs)
    if (this.isLate) this.#end(this.#timeout, silence, nowMs)
    else this.#end('aborted', null, nowMs)
    this.#endedEarly(nowMs)
  }

  /** Aborts the exchange. @returns the time without an answer and the progress, for the log */
  #giveUp(nowMs: number): string {
    const { progress } = this.#cancellation
    this.#cancellation.abort()
    return `no answer in ${Math.round(nowMs - this.record.startedMs)} ms: ${progress}`
  }

  /** Counts the violation as a failure, since no other upstream returned the same one. */
  blame(): void {
    const { result, endedMs } = this.record
    if (typeof result !== 'object' || result === null) return
    // A later answer of the URL has reset its failures already.
    if (this.url.lastResultMs <= (endedMs ?? Infinity)) this.upstream.failed(this.url, result, true)
  }

  /** Clears the violation: another upstream returned the same answer, so it is probably right. */
  excuse(): void {
    this.record.violation = null
    this.record.isDoubted = true
    this.record.result = 'answer'
  }

  /** Computes the budget of the attempt and the time when it is late. */
  #setBudget(nowMs: number): void {
    const { method, directives, journal } = this.#call
    const { chain, config } = this.#context
    const urlMs = this.url.timeoutMs
    const usualMs = (urlMs ?? usualBudgetMs(method, chain, config.now)) + this.othersMs
    const leftMs = journal.deadlineMs - nowMs
    const ownMs = directives.relayTimeoutMs ?? (journal.mayStream ? Infinity : usualMs)
    const budgetMs = Math.min(ownMs, leftMs)
    const isCutShort = journal.mayStream || budgetMs < usualMs
    this.record.isCutShort = isCutShort
    this.#endsWhenLate = urlMs !== null || directives.relayTimeoutMs !== null || isCutShort
    this.record.budgetMs = budgetMs
    this.#lateAtMs = nowMs + budgetMs
  }

  #timeOut(nowMs: number): void {
    this.fault = new TransportError('timeout', this.#giveUp(nowMs))
    this.#fail(this.#timeout, this.fault.message, nowMs)
    this.#settle(nowMs)
  }

  get #timeout(): FailureClass {
    return this.#context.chain.failures.ofTransport('timeout')
  }

  #received(incoming: Incoming): void {
    if (this.#isOver) return release(incoming.body)
    const nowMs = this.#context.clock.nowMs()
    this.#answer = incoming
    this.fault = null
    try {
      this.#take(incoming, this.#context.validator.validate(incoming, this.#call), nowMs)
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
    this.fault = error
    this.record.isUnsent = !error.sent
    this.#fail(this.#context.chain.failures.ofTransport(error.fault), error.message, nowMs)
    this.#settle(nowMs)
  }

  #endWithDefect(error: unknown, nowMs: number): void {
    this.#close()
    this.#end('aborted', ownDefect, nowMs)
    this.defect = error
    this.#owner.ended(this, nowMs)
  }

  #settle(nowMs: number): void {
    if (this.failure && this.#failsOver(this.failure, nowMs)) return this.start(nowMs)
    this.#close()
    this.#owner.ended(this, nowMs)
  }

  /** Selects the next URL, unless time is up or the node may have executed the call. */
  #failsOver(failure: FailureClass, nowMs: number): boolean {
    const call = this.#call
    if (this.isLate || !isRepeatable(call) || call.journal.isSpent(nowMs)) return false
    const isUnsent = this.fault?.sent === false && failure.retry
    const isSentAgain = maySendAgain(call) && failure.retry && this.fault?.fault !== 'timeout'
    if (!failure.holdOff && !isUnsent && !isSentAgain) return false
    const addons = addonsOf(call)
    for (const next of this.#urls) {
      // Another call may have put it into cooldown.
      if (!next.serves(addons)) continue
      this.url = next
      this.record = call.journal.begin(this.upstream.name, 'failover', nowMs, next.printable)
      return true
    }
    return false
  }

  #take(received: Incoming, validated: ValidatedAnswer, nowMs: number): void {
    const { failure, isAnswer, isResult, passOn } = validated
    this.record.missedBlock = validated.missedBlock
    this.record.violation = validated.violation
    this.record.httpStatus = received.status
    this.record.code = validated.code
    // A node may echo the URL and its API keys in anything but a result.
    const incoming = isResult ? received : this.url.mask.incoming(received)
    if (isAnswer || failure === null) return this.#pass(incoming, failure, validated.rest, nowMs)
    // A stream cannot serve as a fallback.
    const isFallback = passOn !== null && incoming.body instanceof Uint8Array
    this.reply = isFallback ? this.#reply(incoming, passOn === 'node-error' ? failure : null) : null
    release(incoming.body)
    this.#fail(failure, validated.detail, nowMs)
  }

  /** Returns an answer to the client. The health of the upstream changes when a stream ends. */
  #pass(
    incoming: Incoming,
    refusal: FailureClass | null,
    rest: StreamValidator | null,
    nowMs: number,
  ): void {
    this.failure = null
    const isWhole = incoming.body instanceof Uint8Array
    // Only the head of an upstream in service counts, so its state comes first.
    if (isWhole) this.#succeed(refusal, nowMs)
    // The tracker learns the block before the answer leaves: no later answer may be older.
    this.#shownBlock = observeChain(this.#call, incoming, this.#context, refusal, this)
    if (isWhole) {
      this.reply = this.#reply(incoming, refusal)
      return
    }
    const { clock } = this.#context
    // Latency excludes the body, which is as slow as the client.
    this.record.endedMs = nowMs
    const { signal } = this.#call
    const body = new StreamedAnswer(incoming.body, rest, signal, clock, (cause) => {
      this.#session.leave()
      const endMs = clock.nowMs()
      const isAborted = cause instanceof TransportError && cause.fault === 'aborted'
      if (cause === null) this.#succeed(refusal, endMs)
      else if (isStreamFailure(cause) && !isAborted)
        this.#streamFailed(incoming.status, cause, body.isReaderSlow, endMs)
      else this.#end('aborted', isAborted ? null : ownDefect, endMs)
    })
    this.reply = this.#reply({ ...incoming, body }, refusal)
  }

  /** Records a stream that failed after the client may have received a part of it. */
  #streamFailed(status: number, cause: StreamFailure, isReaderSlow: boolean, nowMs: number): void {
    const { failures } = this.#context.chain
    const isCut = cause instanceof TransportError
    const failure = isCut ? failures.ofTransport(cause.fault) : failures.ofStatus(status)
    if (!isCut) this.record.violation = { check: 'envelope', detail: cause.message }
    // A node may close a connection whose client does not read.
    if (isCut && isReaderSlow)
      return this.#end(failure, `${cause.message}, at a slow client`, nowMs)
    this.upstream.failed(this.url, failure, true)
    this.#end(failure, cause.message, nowMs)
  }

  #reply(incoming: Incoming, refusal: FailureClass | null): Reply {
    const { name, latest } = this.upstream
    const latestBlock = latest?.block ?? null
    return { incoming, upstream: name, refusal, latestBlock, shownBlock: this.#shownBlock }
  }

  #succeed(refusal: FailureClass | null, nowMs: number): void {
    this.#end(refusal ? 'node-error' : 'answer', refusal?.name ?? null, nowMs)
    const { endedMs, startedMs } = this.record
    const latencyMs = this.#isTimed ? (endedMs ?? nowMs) - startedMs : null
    this.upstream.succeeded(this.url, latencyMs)
  }

  #fail(failure: FailureClass, detail: string | null, nowMs: number): void {
    const { fault, reply } = this
    this.failure = failure
    if (failure.holdOff) this.url.cooldown.begin(fault?.retryAfterMs ?? this.#retryAfterMs(reply))
    else if (failure.late && (this.record.isCutShort || this.isLate)) this.#endedEarly(nowMs)
    // A violation counts only if no other upstream returns the same one.
    else if (this.record.violation === null) {
      this.#excuseLateness?.()
      // A 503 may say when to retry (RFC 9110, 10.2.3).
      const retryAfterMs = failure.weight > 0 ? this.#retryAfterMs(reply) : null
      if (reply?.incoming.status === 503 && retryAfterMs !== null)
        this.url.cooldown.pause(retryAfterMs)
      // The cooldown begins first, since the probe that this may start respects it.
      this.upstream.failed(this.url, failure, fault?.sent !== false, fault ?? this.#answer)
    }
    this.#end(failure, detail, nowMs)
  }

  #retryAfterMs(reply: Reply | null): number | null {
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    return parseRetryAfter(retryAfter, this.#context.clock.wallMs())
  }

  /** Records that the upstream takes at least as long as the attempt ran. */
  #endedEarly(nowMs: number): void {
    if (this.#isTimed) this.upstream.recordCensoredLatency(nowMs - this.record.startedMs)
  }

  /** Whether the latency is comparable: that of streams and expensive calls is not. */
  get #isTimed(): boolean {
    return !this.#call.journal.mayStream && isLight(this.#call)
  }

  #close(): void {
    this.#isOver = true
    // A stream frees its slot when it ends.
    if (!(this.reply?.incoming.body instanceof StreamedAnswer)) this.#session.leave()
    this.#context.dueTimes.delete(this)
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null, nowMs: number): void {
    if (!this.record.isUnsent) observeWrite(this.#call, this.#context.pool.tracker)
    this.record.endedMs ??= nowMs
    this.record.result = result
    this.record.detail = detail
    this.#context.observer.attemptEnded(this.#call, this.record)
  }
}
