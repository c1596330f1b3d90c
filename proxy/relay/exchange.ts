// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { pageWordsOf, quoteOf, reasonOf } from '../chain/failure-words.ts'
import { mayBeRight, type Violation } from '../integrity/violation.ts'
import { limitOf, type Outcome, type OutcomeDetails, settle } from '../upstream/outcome.ts'
import type { ChosenUrl } from '../upstream/candidates.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { waitOf } from '../upstream/wait-of.ts'
import { type Incoming, release, TransportError } from '../upstream/wire.ts'
import type { ValidatedAnswer } from './answer-validator.ts'
import { type AttemptKind, type AttemptRecord, type Call, isLight, type Cancelled } from './call.ts'
import type { ConcurrencySlot } from './concurrency-slot.ts'
import type { RelayContext } from './relay-context.ts'
import type { Reply, StreamValidator } from './reply.ts'
import { observeChain, observeWrite } from './shown-block.ts'
import { isStreamFailure, StreamedAnswer, type StreamFailure } from './streamed-answer.ts'
import type { NodeUrl } from '../upstream/node-url.ts'

/** A node that lacks a method may get it with an upgrade; a limit of one method is over sooner. */
const methodCooldownMs = ({ cooldown }: FailureClass) => (cooldown ? 10_000 : 5 * 60_000)

const ownDefect = 'a defect of the router'
// Shared, because creating an error captures a stack trace.
const lateFault = new TransportError('timeout', 'no answer in time')

/** One request of an attempt to one URL, and its outcome. */
export class Exchange {
  readonly upstream: Upstream
  readonly url: NodeUrl
  readonly record: AttemptRecord
  isLate = false
  /** Failure class, also while it is late; null while it runs in time and after an answer. */
  failure: FailureClass | null = null
  /** Transport error that prevented a complete answer; null if there is none. */
  fault: TransportError | null = null
  /** The answer for the client; after a failure, the reply to fall back to. */
  reply: Reply | null = null
  readonly #context: RelayContext
  readonly #call: Call
  #answer: Incoming | null = null
  #shownBlock: number | null = null
  #isOver = false
  /** Reverts the failure that was counted when it became late. */
  #excuseLateness: (() => void) | null = null

  constructor(
    context: RelayContext,
    call: Call,
    { upstream, url }: ChosenUrl,
    kind: AttemptKind,
    nowMs: number,
  ) {
    this.#context = context
    this.#call = call
    this.upstream = upstream
    this.url = url
    const { printable, position } = url
    this.record = call.journal.begin(upstream.name, kind, nowMs, printable, position)
    url.limit?.begin()
  }

  get violation(): Violation | null {
    return this.record.violation
  }

  /** Fallback reply of a failed exchange. */
  get fallback(): Reply | null {
    return this.violation && !mayBeRight(this.violation) ? null : this.reply
  }

  /** Its budget is used up, but it runs on. */
  becomeLate(): void {
    this.isLate = true
    this.failure = this.#timeout
    this.fault = lateFault
    const sentMs = this.record.startedMs
    const detail = `no answer in ${Math.round(this.record.budgetMs ?? 0)} ms`
    const reason = reasonOf(this.failure, { ...this.record, detail })
    this.#excuseLateness = this.#settle('late', { failure: this.failure, reason, sentMs })
  }

  /** @param silence describes what was received, for the log */
  timeOut(silence: string, nowMs: number): void {
    this.fault = new TransportError('timeout', silence)
    this.#fail(this.#timeout, silence, nowMs)
  }

  /**
   * Another attempt won, the client disconnected, or the call failed.
   * @param isSlowCall whether the winning answer was late as well
   */
  abandon(cause: Cancelled, isSlowCall: boolean, silence: string, nowMs: number): void {
    if (isSlowCall) this.#excuseLateness?.()
    const elapsedMs = this.#elapsedMs(nowMs)
    // An overtaken hedge has just begun.
    this.record.isLostRace =
      cause === 'overtaken' &&
      (this.record.kind === 'hedge' || this.upstream.score.isUsual(elapsedMs ?? Infinity, nowMs))
    if (this.isLate) this.#end(this.#timeout, silence, nowMs)
    else this.#end(cause, null, nowMs)
    this.#settle('overtaken', { elapsedMs })
  }

  failToSend(error: TransportError, nowMs: number): void {
    this.fault = error
    this.record.isUnsent = !error.sent
    this.#fail(this.#context.chain.failures.ofTransport(error.fault), error.message, nowMs)
  }

  /** Ends the exchange after an unexpected exception, without blaming the upstream. */
  endWithDefect(nowMs: number): void {
    this.#end('aborted', ownDefect, nowMs)
  }

  /** Validates an answer and takes its outcome. @param slot is freed when a stream ends */
  receive(received: Incoming, slot: ConcurrencySlot, nowMs: number): void {
    this.#answer = received
    this.fault = null
    const validated = this.#context.validator.validate(received, this.#call)
    const { failure, isAnswer, isResult, passOn } = validated
    this.#note(received.status, validated)
    // A node may echo the URL and its API keys in anything but a result.
    const incoming = isResult ? received : this.url.mask.incoming(received)
    if (isAnswer || failure === null)
      return this.#pass(incoming, failure, validated.rest, slot, nowMs)
    // A stream cannot serve as a fallback.
    const isFallback = passOn !== null && incoming.body instanceof Uint8Array
    this.reply = isFallback ? this.#reply(incoming, passOn === 'node-error' ? failure : null) : null
    release(incoming.body)
    this.#fail(failure, this.#wordsOf(received, validated), nowMs)
    if (this.reply && failure.cooldown)
      this.reply = { ...this.reply, retryAfterMs: this.#limitLeftMs(failure) }
  }

  /** The node's words, without keys. */
  #wordsOf({ status, body }: Incoming, { detail, passOn }: ValidatedAnswer): string | null {
    const mask = (text: string) => this.url.mask.text(text)
    const isPage = passOn === 'as-it-is' && status >= 400 && body instanceof Uint8Array
    const page = isPage ? pageWordsOf(body, mask) : ''
    return detail && [quoteOf(mask(detail)), page].filter(Boolean).join(': ')
  }

  /** How long a limit lasts: as the node says, or as long as the cooldown. */
  #limitLeftMs({ retryAfterMs, limit }: FailureClass): number {
    const { cooldown } = this.url
    const ofMethod = limit === 'call' && cooldown.leftMsOf(this.#call.method.name)
    return retryAfterMs ?? this.#retryAfterMs ?? (ofMethod || cooldown.leftMs)
  }

  #note(status: number, { missedBlock, violation, code }: ValidatedAnswer): void {
    this.record.missedBlock = missedBlock
    this.record.violation = violation
    this.record.httpStatus = status
    this.record.code = code
  }

  /** Counts the violation as a failure, since no other upstream returned the same one. */
  blame(): void {
    const { result, endedMs } = this.record
    if (typeof result !== 'object' || result === null) return
    // A later answer of the URL has reset its failures already.
    if (this.url.lastResultMs > (endedMs ?? Infinity)) return
    this.#settle('failed', { failure: result, reason: this.#reason(result), needsProbe: true })
  }

  /** Clears the violation: another upstream returned the same answer, so it is probably right. */
  excuse(): void {
    this.record.violation = null
    this.record.isDoubted = true
    this.record.result = 'answer'
  }

  /** Returns an answer to the client. The health of the upstream changes when a stream ends. */
  #pass(
    incoming: Incoming,
    refusal: FailureClass | null,
    rest: StreamValidator | null,
    slot: ConcurrencySlot,
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
      slot.leave()
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
    const isByReader = isCut && isReaderSlow
    const reason = reasonOf(failure, { httpStatus: status, code: null, detail: cause.message })
    if (!isByReader) this.#settle('failed', { failure, reason, needsProbe: true })
    this.#end(failure, isByReader ? `${cause.message}, at a slow client` : cause.message, nowMs)
  }

  #reply(incoming: Incoming, refusal: FailureClass | null): Reply {
    const { name, latest } = this.upstream
    const latestBlock = latest?.block ?? null
    return { incoming, upstream: name, refusal, latestBlock, shownBlock: this.#shownBlock }
  }

  #succeed(refusal: FailureClass | null, nowMs: number): void {
    this.#end(refusal ? 'node-error' : 'answer', refusal?.name ?? null, nowMs)
    this.#settle('answered', { elapsedMs: this.#elapsedMs(this.record.endedMs ?? nowMs) })
  }

  #fail(failure: FailureClass, detail: string | null, nowMs: number): void {
    const { fault, record } = this
    this.failure = failure
    record.detail = detail
    const reason = this.#reason(failure)
    if (failure.limit === 'call') {
      const { name } = this.#call.method
      const method = { name, forMs: methodCooldownMs(failure), isLimit: failure.cooldown }
      this.#settle('methodLimited', { method, retryAfterMs: failure.retryAfterMs ?? null, reason })
    } else if (failure.cooldown)
      this.#settle('limited', { ...limitOf(failure, this.#retryAfterMs), reason })
    else if (failure.late && (record.isCutShort || this.isLate))
      this.#settle('overtaken', { elapsedMs: this.#elapsedMs(nowMs) })
    // A violation counts only if no other upstream returns the same one.
    else if (record.violation === null) {
      this.#excuseLateness?.()
      // A 503 may say when to retry (RFC 9110, 10.2.3).
      const isRequested = failure.weight > 0 && record.httpStatus === 503
      const retryAfterMs = isRequested ? this.#retryAfterMs : null
      const needsProbe = fault?.sent !== false
      const cause = fault ?? this.#answer
      this.#settle('failed', { failure, reason, retryAfterMs, needsProbe, cause })
    }
    this.#end(failure, detail, nowMs)
  }

  get #retryAfterMs(): number | null {
    if (this.#answer === null) return this.fault?.retryAfterMs ?? null
    const { headers, body } = this.#answer
    const isWhole = body instanceof Uint8Array
    const metadata = isWhole ? [...headers, ...this.#answer.trailers()] : headers
    return waitOf(metadata, this.#context.clock.wallMs())
  }

  /** Null if it is not comparable: streams and expensive calls take longer. */
  #elapsedMs(nowMs: number): number | null {
    const isComparable = !this.#call.journal.mayStream && isLight(this.#call)
    return isComparable ? nowMs - this.record.startedMs : null
  }

  #reason(failure: FailureClass): string {
    return reasonOf(failure, this.record)
  }

  get #timeout(): FailureClass {
    return this.#context.chain.failures.ofTransport('timeout')
  }

  #settle(outcome: Outcome, details: OutcomeDetails): (() => void) | null {
    return settle(outcome, this.upstream, this.url, details)
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null, nowMs: number): void {
    if (!this.record.isUnsent) observeWrite(this.#call, this.#context.pool.tracker)
    this.record.endedMs ??= nowMs
    this.record.result = result
    this.record.detail = detail
    if (!this.#isOver) this.url.limit?.end()
    this.#isOver = true
    this.#context.observer.attemptEnded(this.#call, this.record)
  }
}
