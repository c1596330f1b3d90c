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
/** Each other item of the same request may add this to the time of an attempt. */
const msPerOther = 20
const lateFault = new TransportError('timeout', 'no answer in time')

/** The call that an attempt is made for. After `ended` nothing more is reported to it. */
export interface AttemptOwner {
  /** The attempt is slow and goes on: another upstream may be asked as well. With `isLate`, its budget is over. */
  slow(attempt: Attempt, nowMs: number): void
  ended(attempt: Attempt, nowMs: number): void
}

/**
 * One attempt of a call at one upstream, by its best URL, and by the next URL when one fails fast.
 * It has the answer judged, and credits or blames the upstream.
 */
export class Attempt implements Due {
  readonly upstream: Upstream
  url: NodeUrl
  record: AttemptRecord
  dueMs = Infinity
  index = -1
  isLate = false
  /** Why it failed, or that it is late; null for an answer, and before. */
  failure: FailureClass | null = null
  /** Why no complete answer came; null when one did. */
  fault: TransportError | null = null
  /** The answer for the client; after a failure, the reply that may still be passed on. */
  reply: Reply | null = null
  /** The extra time for the other items of the same request. */
  othersMs = 0
  /** A defect of the router that ended it; null for none. */
  defect: unknown = null
  readonly #parts: RelayContext
  readonly #owner: AttemptOwner
  readonly #call: Call
  readonly #urls: Iterator<NodeUrl, undefined> & Iterable<NodeUrl>
  readonly #session: ConcurrencySlot
  readonly #cancellation = new Cancellation()
  #slowAtMs = Infinity
  #lateAtMs = Infinity
  /** It fails when its budget is over; else it is late then, and goes on. */
  #endsWhenLate = false
  #isOver = false
  #answer: Incoming | null = null
  #shownBlock: number | null = null
  /** Undoes the failure that was counted when it was late. */
  #excuseLateness: (() => void) | null = null

  constructor(
    parts: RelayContext,
    owner: AttemptOwner,
    call: Call,
    upstream: Upstream,
    kind: AttemptKind,
    nowMs: number,
  ) {
    this.upstream = upstream
    this.#parts = parts
    this.#owner = owner
    this.#call = atKnownHead(call, upstream)
    const floor = floorOf(call)
    const urls = upstream.urlsFor(addonsOf(call), call.method).values()
    // Lazily: heads may change before a failover.
    this.#urls = floor === null ? urls : urls.filter((each) => isAt(floor, each))
    const { value: url, done } = this.#urls.next()
    if (done) throw new Error('an upstream was chosen that has no URL for the call')
    this.url = url
    this.record = call.journal.begin(upstream.name, kind, nowMs, url.printable)
    this.#session = new ConcurrencySlot(upstream, call.request.body)
  }

  /** After how many milliseconds it is late, or fails. */
  get budgetMs(): number {
    return this.record.budgetMs ?? Infinity
  }

  get violation(): Violation | null {
    return this.record.violation
  }

  /** The reply of a failed attempt that may be passed on when no better one comes. */
  get fallback(): Reply | null {
    return this.violation && !mayBeRight(this.violation) ? null : this.reply
  }

  start(nowMs: number): void {
    this.failure = this.fault = this.reply = this.#cancellation.underWay = null
    const request = requestTo(this.url, this.#call, this.record, this.#parts)
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

  /** Reports once to its owner that it is slow. */
  slowAfter(ms: number, nowMs: number): void {
    this.#slowAtMs = nowMs + ms
    this.#rearm(nowMs)
  }

  #rearm(nowMs: number): void {
    if (this.#isOver) return
    this.dueMs = Math.min(this.#slowAtMs, this.#lateAtMs, this.#call.journal.deadlineMs)
    this.#parts.dueTimes.add(this, nowMs)
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
   * The call ended without it: another attempt won, the client left, or the call failed.
   * @param isSlowCall the answer that won was late as well
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

  /** Ends the exchange. @returns how long there was no answer, and how far it had come */
  #giveUp(nowMs: number): string {
    const { progress } = this.#cancellation
    this.#cancellation.abort()
    return `no answer in ${Math.round(nowMs - this.record.startedMs)} ms: ${progress}`
  }

  /** No other upstream showed the violation for which it failed. */
  blame(): void {
    const { result, endedMs } = this.record
    if (typeof result !== 'object' || result === null) return
    // Not when the URL has answered since: that reset its failures.
    if (this.url.judgedMs <= (endedMs ?? Infinity)) this.upstream.failed(this.url, result, true)
  }

  /** Another upstream showed the same violation, so the answer is probably right. */
  excuse(): void {
    this.record.violation = null
    this.record.isDoubted = true
    this.record.result = 'answer'
  }

  /** Works out the budget of the attempt, and when it is late. */
  #setBudget(nowMs: number): void {
    const { method, directives, journal } = this.#call
    const { chain, config } = this.#parts
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
    return this.#parts.chain.failures.ofTransport('timeout')
  }

  #received(incoming: Incoming): void {
    if (this.#isOver) return release(incoming.body)
    const nowMs = this.#parts.clock.nowMs()
    this.#answer = incoming
    this.fault = null
    try {
      this.#take(incoming, this.#parts.judge.validate(incoming, this.#call), nowMs)
      this.#settle(nowMs)
    } catch (error) {
      release(incoming.body)
      this.#endWithDefect(error, nowMs)
    }
  }

  #failedToSend(error: unknown): void {
    if (this.#isOver) return
    const nowMs = this.#parts.clock.nowMs()
    if (!(error instanceof TransportError)) return this.#endWithDefect(error, nowMs)
    this.fault = error
    this.record.isUnsent = !error.sent
    this.#fail(this.#parts.chain.failures.ofTransport(error.fault), error.message, nowMs)
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

  /** Moves on to the next URL, unless the time is used up or the node may have executed the call. */
  #failsOver(failure: FailureClass, nowMs: number): boolean {
    const call = this.#call
    if (this.isLate || !isRepeatable(call) || call.journal.isSpent(nowMs)) return false
    const isUnsent = this.fault?.sent === false && failure.retry
    const isSentAgain = maySendAgain(call) && failure.retry && this.fault?.fault !== 'timeout'
    if (!failure.holdOff && !isUnsent && !isSentAgain) return false
    const addons = addonsOf(call)
    for (const next of this.#urls) {
      // Another call may have put it into cooldown in the meantime.
      if (!next.serves(addons)) continue
      this.url = next
      this.record = call.journal.begin(this.upstream.name, 'failover', nowMs, next.printable)
      return true
    }
    return false
  }

  #take(received: Incoming, verdict: ValidatedAnswer, nowMs: number): void {
    const { failure, isAnswer, isResult, passOn } = verdict
    this.record.missedBlock = verdict.missedBlock
    this.record.violation = verdict.violation
    this.record.httpStatus = received.status
    this.record.code = verdict.code
    // Anything but a result may repeat the URL with its keys.
    const incoming = isResult ? received : this.url.mask.incoming(received)
    if (isAnswer || failure === null) return this.#pass(incoming, failure, verdict.rest, nowMs)
    // A stream cannot be kept as a fallback.
    const isKept = passOn !== null && incoming.body instanceof Uint8Array
    this.reply = isKept ? this.#reply(incoming, passOn === 'node-error' ? failure : null) : null
    release(incoming.body)
    this.#fail(failure, verdict.detail, nowMs)
  }

  /** An answer for the client. A stream is credited or blamed when it ends. */
  #pass(
    incoming: Incoming,
    refusal: FailureClass | null,
    rest: StreamValidator | null,
    nowMs: number,
  ): void {
    this.failure = null
    const isWhole = incoming.body instanceof Uint8Array
    // First: only the head of an upstream in service counts.
    if (isWhole) this.#succeed(refusal, nowMs)
    // Before it leaves: nothing older may be served after it.
    this.#shownBlock = observeChain(this.#call, incoming, this.#parts, refusal, this)
    this.reply = this.#reply(incoming, refusal)
    if (isWhole) return
    const { clock } = this.#parts
    // The latency ends with the head: the rest is as slow as the client.
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

  /** The answer broke off when a part of it may have been passed on. */
  #streamFailed(status: number, cause: StreamFailure, isReaderSlow: boolean, nowMs: number): void {
    const { failures } = this.#parts.chain
    const isCut = cause instanceof TransportError
    const failure = isCut ? failures.ofTransport(cause.fault) : failures.ofStatus(status)
    if (!isCut) this.record.violation = { check: 'envelope', detail: cause.message }
    // A node may give up on a client that does not read its answer.
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
    // Whether a violation is blamed depends on what other upstreams show.
    else if (this.record.violation === null) {
      this.#excuseLateness?.()
      // An upstream that is unavailable, whatever was asked, may set a time to come back (RFC 9110, 10.2.3).
      const retryAfterMs = failure.weight > 0 ? this.#retryAfterMs(reply) : null
      if (reply?.incoming.status === 503 && retryAfterMs !== null)
        this.url.cooldown.pause(retryAfterMs)
      // Behind the cooldown, which a probe must keep to.
      this.upstream.failed(this.url, failure, fault?.sent !== false, fault ?? this.#answer)
    }
    this.#end(failure, detail, nowMs)
  }

  #retryAfterMs(reply: Reply | null): number | null {
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    return parseRetryAfter(retryAfter, this.#parts.clock.wallMs())
  }

  /** It ended before its answer came: the upstream takes at least this long. */
  #endedEarly(nowMs: number): void {
    if (this.#isTimed) this.upstream.recordCensoredLatency(nowMs - this.record.startedMs)
  }

  /** The time of a stream or of a heavy call does not show how fast its upstream is. */
  get #isTimed(): boolean {
    return !this.#call.journal.mayStream && isLight(this.#call)
  }

  #close(): void {
    this.#isOver = true
    // That of a stream ends with it.
    if (!(this.reply?.incoming.body instanceof StreamedAnswer)) this.#session.leave()
    this.#parts.dueTimes.delete(this)
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null, nowMs: number): void {
    if (!this.record.isUnsent) observeWrite(this.#call, this.#parts.pool.tracker)
    this.record.endedMs ??= nowMs
    this.record.result = result
    this.record.detail = detail
    this.#parts.observer.attemptEnded(this.#call, this.record)
  }
}
