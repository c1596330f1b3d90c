// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { Cancellation } from '../clock/cancellation.ts'
import type { Due } from '../clock/due-times.ts'
import { readBlockNumber } from '../upstream/dialect.ts'
import {
  header,
  type Incoming,
  parseRetryAfter,
  release,
  TransportError,
} from '../upstream/wire.ts'
import type { NodeUrl, Upstream } from '../upstream/upstream.ts'
import { type AttemptKind, type AttemptRecord, type Call, isLight, isRepeatable } from './call.ts'
import { addonsOf } from './needs.ts'
import type { RelayParts } from './parts.ts'
import type { Reply, StreamJudge } from './reply.ts'
import { isUpstreamsDoing, StreamedAnswer, type StreamFailure } from './streamed-answer.ts'
import type { Verdict } from './verdict.ts'
import { mayBeRight, type Violation } from '../integrity/violation.ts'

const ownDefect = 'a defect of the router'
/** What each other item of the same request may add to the time of a call. */
const msPerOther = 20
const lateFault = new TransportError('timeout', 'no answer in time')

/** The call that an attempt is made for. After `ended` nothing more is reported to it. */
export interface AttemptOwner {
  /** It takes long, and goes on: another upstream may be asked as well. Where `isLate`, its budget is over. */
  slow(attempt: Attempt, nowMs: number): void
  ended(attempt: Attempt, nowMs: number): void
}

/**
 * A call at one upstream: within its time, by the best of its URLs, and by the next URL when one fails
 * fast. It judges what comes back and credits or blames the upstream.
 */
export class Attempt implements Due {
  readonly upstream: Upstream
  dueMs = Infinity
  index = -1
  isLate = false
  /** Why it failed, or that it is late; null for an answer, and before. */
  failure: FailureClass | null = null
  /** Why no complete answer came; null when one did. */
  fault: TransportError | null = null
  /** The answer for the client; of a failed attempt, what may be passed on. */
  reply: Reply | null = null
  /** How much longer it may take for the others in the same request. */
  othersMs = 0
  /** What the router itself failed by. */
  defect: unknown = null
  readonly #parts: RelayParts
  readonly #owner: AttemptOwner
  readonly #call: Call
  readonly #urls: Iterator<NodeUrl, undefined> & Iterable<NodeUrl>
  readonly #cancellation = new Cancellation()
  #url: NodeUrl
  #record: AttemptRecord
  #slowAtMs = Infinity
  #lateAtMs = Infinity
  /** It has less time than an upstream may take, or may rest: being late is no failure of the upstream. */
  #isCutShort = false
  #isFirm = false
  #isOver = false
  #answer: Incoming | null = null
  /** Takes back that being late counted as a failure. */
  #excuseLateness: (() => void) | null = null

  constructor(
    parts: RelayParts,
    owner: AttemptOwner,
    call: Call,
    upstream: Upstream,
    kind: AttemptKind,
    nowMs: number,
  ) {
    this.upstream = upstream
    this.#parts = parts
    this.#owner = owner
    this.#call = call
    this.#urls = upstream.urlsFor(addonsOf(call)).values()
    const { value: url, done } = this.#urls.next()
    if (done) throw new Error('an upstream was chosen that has no URL for the call')
    this.#url = url
    this.#record = call.journal.begin(upstream.name, kind, nowMs)
    upstream.sessions += 1
  }

  /** How long it may take, or after how long it is late, in milliseconds. */
  get budgetMs(): number {
    return this.#record.budgetMs ?? Infinity
  }

  get violation(): Violation | null {
    return this.#record.violation
  }

  /** Of a failed attempt: what may be passed on when nothing better comes. */
  get fallback(): Reply | null {
    return this.violation && !mayBeRight(this.violation) ? null : this.reply
  }

  start(nowMs: number): void {
    this.failure = this.fault = this.reply = null
    const { request } = this.#call
    const shared = this.#record.kind === 'first' ? this.#call.shared : undefined
    this.othersMs = (shared?.others ?? 0) * msPerOther
    this.#allow(nowMs)
    this.#rearm(nowMs)
    const incoming = shared
      ? shared.send(this.#url, request, this.#cancellation)
      : this.#url.transport.send(request, this.#cancellation)
    incoming.then(
      (received) => this.#received(received),
      (error: unknown) => this.#failedToSend(error),
    )
  }

  /** Its owner is told once that it is slow. */
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
    if (nowMs >= this.#lateAtMs && !this.#isFirm) this.#beLate(nowMs)
    const isOver = nowMs >= this.#call.journal.deadlineMs || nowMs >= this.#lateAtMs
    if (isOver) return this.#timeOut(nowMs)
    if (nowMs >= this.#slowAtMs) {
      this.#slowAtMs = Infinity
      this.#owner.slow(this, nowMs)
    }
    this.#rearm(nowMs)
  }

  #beLate(nowMs: number): void {
    const { startedMs } = this.#record
    this.#lateAtMs = Infinity
    this.isLate = true
    this.failure = this.#timeout
    this.fault = lateFault
    this.#excuseLateness = this.upstream.late(this.#url, this.failure, startedMs)
    this.#owner.slow(this, nowMs)
  }

  /**
   * Another attempt brought the answer, or nobody waits any more.
   * @param isSlowCall the answer was late as well
   */
  abandon(nowMs: number, isSlowCall: boolean): void {
    if (this.#isOver) return
    this.#close()
    if (isSlowCall) this.#excuseLateness?.()
    const tookMs = nowMs - this.#record.startedMs
    if (this.isLate) this.#end(this.#timeout, `no answer in ${Math.round(tookMs)} ms`, nowMs)
    else this.#end('aborted', null, nowMs)
    this.#outrun(nowMs)
    this.#cancellation.abort()
  }

  /** Nobody else shows the violation for which it failed. */
  blame(): void {
    const { result, endedMs } = this.#record
    if (typeof result !== 'object' || result === null) return
    // An answer since then has ended the row of failures.
    if (this.#url.judgedMs <= (endedMs ?? Infinity))
      this.upstream.failed(this.#url, result, this.#method)
  }

  /** Another upstream shows the same violation: it may be what the chain is like. */
  excuse(): void {
    this.#record.violation = null
    this.#record.result = 'answer'
  }

  /** Its budget begins. */
  #allow(nowMs: number): void {
    const { asked, directives, journal } = this.#call
    const { hedging, config } = this.#parts
    const urlMs = this.#url.timeoutMs
    const ownUsualMs = urlMs ?? hedging.usualBudgetMs(asked, config.minRelayTimeoutMs)
    const usualMs = ownUsualMs + this.othersMs
    const leftMs = journal.deadlineMs - nowMs
    const ownMs = directives.relayTimeoutMs ?? (journal.mayRest ? Infinity : usualMs)
    const budgetMs = Math.min(ownMs, leftMs)
    this.#isCutShort = journal.mayRest || budgetMs < usualMs
    this.#isFirm = urlMs !== null || directives.relayTimeoutMs !== null || this.#isCutShort
    this.#record.budgetMs = budgetMs
    this.#lateAtMs = nowMs + budgetMs
  }

  #timeOut(nowMs: number): void {
    const tookMs = nowMs - this.#record.startedMs
    this.fault = new TransportError('timeout', `no answer in ${Math.round(tookMs)} ms`)
    this.#cancellation.abort()
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
      this.#take(incoming, this.#parts.judge.judge(incoming, this.#call), nowMs)
      this.#settle(nowMs)
    } catch (error) {
      release(incoming.body)
      this.#break(error, nowMs)
    }
  }

  #failedToSend(error: unknown): void {
    if (this.#isOver) return
    const nowMs = this.#parts.clock.nowMs()
    if (!(error instanceof TransportError)) return this.#break(error, nowMs)
    this.fault = error
    this.#record.isUnsent = !error.sent
    this.#fail(this.#parts.chain.failures.ofTransport(error.fault), error.message, nowMs)
    this.#settle(nowMs)
  }

  #break(error: unknown, nowMs: number): void {
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

  /** Goes on to the next URL. One that was slow has used the time up; what may have been done is not done twice. */
  #failsOver(failure: FailureClass, nowMs: number): boolean {
    const call = this.#call
    const { fault } = this
    if (this.isLate || !isRepeatable(call) || call.journal.isSpent(nowMs)) return false
    const isUnsent = fault?.sent === false && failure.retry
    const isReadAgain = call.asked.kind === 'read' && failure.retry && fault?.fault !== 'timeout'
    if (!failure.holdOff && !isUnsent && !isReadAgain) return false
    const addons = addonsOf(call)
    for (const next of this.#urls) {
      // Another call may have put it into cooldown in the meantime.
      if (!next.serves(addons)) continue
      this.#url = next
      this.#record = call.journal.begin(this.upstream.name, 'failover', nowMs)
      return true
    }
    return false
  }

  #take(received: Incoming, verdict: Verdict, nowMs: number): void {
    const { failure, isAnswer, isResult, passOn } = verdict
    this.#record.missedBlock = verdict.missedBlock
    this.#record.violation = verdict.violation
    // Whatever is no result may repeat the URL that it was asked by.
    const incoming = isResult ? received : this.#url.mask.incoming(received)
    if (isAnswer || failure === null) return this.#pass(incoming, failure, verdict.rest, nowMs)
    // A stream cannot be kept to fall back on.
    const isKept = passOn !== null && incoming.body instanceof Uint8Array
    this.reply = isKept ? this.#reply(incoming, passOn === 'node-error' ? failure : null) : null
    release(incoming.body)
    this.#fail(failure, verdict.detail, nowMs)
  }

  /** An answer for the client. What streams is settled when its stream ends. */
  #pass(
    incoming: Incoming,
    refusal: FailureClass | null,
    rest: StreamJudge | null,
    nowMs: number,
  ): void {
    if (refusal === null) this.#observeHead(incoming)
    this.failure = null
    if (incoming.body instanceof Uint8Array) {
      this.#succeed(refusal, nowMs)
      this.reply = this.#reply(incoming, refusal)
      return
    }
    const { clock } = this.#parts
    // The head is what the upstream's speed is judged by; the rest is as slow as the client.
    this.#record.endedMs = nowMs
    this.upstream.sessions += 1
    const { signal } = this.#call
    const body = new StreamedAnswer(incoming.body, rest, signal, clock, (cause) => {
      this.upstream.sessions -= 1
      const endMs = clock.nowMs()
      const isAborted = cause instanceof TransportError && cause.fault === 'aborted'
      if (cause === null) this.#succeed(refusal, endMs)
      else if (isUpstreamsDoing(cause) && !isAborted)
        this.#breakOff(incoming.status, cause, body.isReaderSlow, endMs)
      else this.#end('aborted', isAborted ? null : ownDefect, endMs)
    })
    this.reply = this.#reply({ ...incoming, body }, refusal)
  }

  /** An answer about the newest state shows the upstream's head. */
  #observeHead(incoming: Incoming): void {
    const { asked } = this.#call
    if (asked.tellsTip === null || !(incoming.body instanceof Uint8Array)) return
    const { pool, dialect } = this.#parts
    const block = readBlockNumber(dialect, incoming, asked.tellsTip)
    if (block !== null) pool.observeHead(this.upstream, block, this.#record.startedMs, this.#url)
  }

  /** The answer broke when a part of it was on its way to the client. */
  #breakOff(status: number, cause: StreamFailure, isReaderSlow: boolean, nowMs: number): void {
    const { failures } = this.#parts.chain
    const isCut = cause instanceof TransportError
    const failure = isCut ? failures.ofTransport(cause.fault) : failures.ofStatus(status)
    if (!isCut) this.#record.violation = { check: 'envelope', detail: cause.message }
    // A node may well give up on a client that does not take its answer.
    if (isCut && isReaderSlow)
      return this.#end(failure, `${cause.message}, at a slow client`, nowMs)
    this.upstream.failed(this.#url, failure, this.#method)
    this.#end(failure, cause.message, nowMs)
  }

  #reply(incoming: Incoming, refusal: FailureClass | null): Reply {
    const { name, latest } = this.upstream
    return { incoming, upstream: name, refusal, latestBlock: latest?.block ?? null }
  }

  #succeed(refusal: FailureClass | null, nowMs: number): void {
    this.#end(refusal ? 'node-error' : 'answer', refusal?.name ?? null, nowMs)
    const { endedMs, startedMs } = this.#record
    const latencyMs = this.#isTimed ? (endedMs ?? nowMs) - startedMs : null
    this.upstream.succeeded(this.#url, latencyMs, this.#method)
  }

  /** Methods that no spec names are one to the upstream: clients may make some up. */
  get #method(): string {
    const { known, method } = this.#call.asked
    return known ? method : ''
  }

  #fail(failure: FailureClass, detail: string | null, nowMs: number): void {
    const { fault, reply } = this
    this.failure = failure
    if (failure.holdOff) this.#url.cooldown.begin(fault?.retryAfterMs ?? this.#retryAfterMs(reply))
    else if (failure.late && (this.#isCutShort || this.isLate)) this.#outrun(nowMs)
    // Whether a violation is blamed depends on what other upstreams show.
    else if (this.#record.violation === null) {
      this.#excuseLateness?.()
      const method = fault?.sent === false ? null : this.#method
      this.upstream.failed(this.#url, failure, method, fault ?? this.#answer)
      // One that is unavailable, and not for what was asked, may say until when (RFC 9110, 10.2.3).
      const retryAfterMs = failure.weight > 0 ? this.#retryAfterMs(reply) : null
      if (reply?.incoming.status === 503 && retryAfterMs !== null)
        this.#url.cooldown.pause(retryAfterMs)
    }
    this.#end(failure, detail, nowMs)
  }

  #retryAfterMs(reply: Reply | null): number | null {
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    return parseRetryAfter(retryAfter, this.#parts.clock.wallMs())
  }

  /** It was not waited for to the end. */
  #outrun(nowMs: number): void {
    if (this.#isTimed) this.upstream.outrun(nowMs - this.#record.startedMs)
  }

  /** How long a stream rests, or a heavy call takes, says nothing of how fast its upstream is. */
  get #isTimed(): boolean {
    return !this.#call.journal.mayRest && isLight(this.#call)
  }

  #close(): void {
    this.#isOver = true
    this.upstream.sessions -= 1
    this.#parts.dueTimes.delete(this)
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null, nowMs: number): void {
    this.#record.endedMs ??= nowMs
    this.#record.result = result
    this.#record.detail = detail
    this.#parts.observer.attemptEnded(this.#call, this.#record)
  }
}
