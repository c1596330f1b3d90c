// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Dialect } from '../upstream/dialect.ts'
import { parseRetryAfter, type Refusal } from '../upstream/cooldown.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { header, release, type ByteStream, type Incoming } from '../upstream/wire.ts'
import { attemptBudget } from './attempt-budget.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isRepeatable, type Call } from './call.ts'
import { CallAborted } from './errors.ts'
import { impersonalRefusal } from './impersonal-refusal.ts'
import { violation } from './integrity/violation.ts'
import type { AttemptKind, AttemptRecord } from './journal.ts'
import type { Judge } from './judge.ts'
import { addonsOf } from './needs.ts'
import type { RelayObserver } from './observer.ts'
import type { Reply, StreamJudge } from './reply.ts'
import { toldBlock } from './told-block.ts'
import { StreamedAnswer, type StreamBroken } from './streamed-answer.ts'

/** What became of an attempt that the router itself failed at. */
const ownDefect = 'a defect of the router'

/** Asks one upstream on behalf of a call. @throws AttemptFailed @throws CallAborted */
export type Attempt = (call: Call, upstream: Upstream) => Promise<Reply>

export interface AttemptOptions {
  readonly chain: Chain
  readonly dialect: Dialect
  readonly pool: Pool
  readonly judge: Judge
  readonly minRelayTimeoutMs: number
  readonly clock: Clock
  readonly observer: RelayObserver
}

/**
 * One question to one upstream: within its time, by the best of its URLs, failing over to the next
 * URL when one fails fast. It judges what comes back and tells the upstream's score and standing.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  return async (call, upstream) => {
    const addons = addonsOf(call)
    let last: AttemptFailed | null = null
    upstream.sessions += 1
    try {
      for (const url of upstream.urlsFor(addons)) {
        // Another call may have had this URL left alone in the meantime.
        if (last !== null && !url.serves(addons)) continue
        const kind: AttemptKind = last === null ? call.attemptKind : 'failover'
        const asking = new Asking(options, call, upstream, url, kind)
        const outcome = await asking.run()
        if (!(outcome instanceof AttemptFailed)) return outcome
        last = outcome
        // Where it was late, somebody else is being asked already.
        if (asking.isLate || !mayFailOver(call, outcome, options.clock)) break
      }
    } finally {
      upstream.sessions -= 1
    }
    if (last === null) throw new Error('an upstream was chosen that has no URL for the call')
    throw last
  }
}

/** A slow URL has used the time up; and what may have been done must not be done twice. */
function mayFailOver(call: Call, failed: AttemptFailed, clock: Clock): boolean {
  if (!isRepeatable(call) || call.journal.isSpent(clock.nowMs())) return false
  const { failure } = failed
  if (failure.holdOff || (!failed.sent && failure.retry)) return true
  return call.asked.kind === 'read' && failure.retry && !failed.timedOut
}

/** One request to one URL, from its sending to what follows from the answer. */
class Asking {
  readonly #options: AttemptOptions
  readonly #call: Call
  readonly #upstream: Upstream
  readonly #url: NodeUrl
  readonly #record: AttemptRecord
  /** The tip when it was asked; null where the answer does not tell it. */
  readonly #tipThen: number | null
  /** It has less time than an upstream may take, or may rest: being late is no failure of the upstream. */
  #isCutShort = false
  /** Takes back that being late counted as a failure. */
  #excuse: (() => void) | null = null

  constructor(
    options: AttemptOptions,
    call: Call,
    upstream: Upstream,
    url: NodeUrl,
    kind: AttemptKind,
  ) {
    this.#options = options
    this.#call = call
    this.#upstream = upstream
    this.#url = url
    this.#tipThen = call.asked.tellsTip && options.pool.tip
    this.#record = call.journal.begin(upstream.name, kind, options.clock.nowMs())
  }

  get isLate(): boolean {
    return this.#record.late
  }

  /** @throws CallAborted */
  async run(): Promise<Reply | AttemptFailed> {
    try {
      const incoming = await this.#send()
      const outcome = this.#judge(incoming)
      if (outcome instanceof AttemptFailed) release(incoming.body)
      return outcome
    } catch (error) {
      if (this.#call.signal.aborted) {
        this.#takenBack()
        throw new CallAborted()
      }
      if (!(error instanceof TransportError)) {
        this.#end('aborted', ownDefect)
        throw error
      }
      const failure = this.#options.chain.failures.ofTransport(error.fault)
      return this.#fail(failure, error.message, null, error)
    }
  }

  /** Sends, and takes the request back when its time is over or nobody waits any more. */
  async #send(): Promise<Incoming> {
    const { signal, request, journal } = this.#call
    const { body } = request
    const limit = new TimeLimit(this.#options.clock, signal)
    try {
      if (body === null || body instanceof Uint8Array) {
        this.#bound(limit)
        return await this.#url.transport.send(request, limit.signal)
      }
      // As long as the client still sends, being late is no fault of the upstream's.
      this.#isCutShort = true
      const bound = () => {
        limit.allow(this.#leftMs())
      }
      bound()
      // Also where the node does not take the rest of a request that has ended.
      journal.whenBounded(bound)
      // It may go on sending when the answer has begun, and the limit has ended.
      const noticed = noticing(body, () => {
        this.#bound(limit)
      })
      return await this.#url.transport.send({ ...request, body: noticed }, limit.signal)
    } catch (cause) {
      if (limit.spentMs === null) throw cause
      const lateMs = this.isLate ? (this.#record.budgetMs ?? 0) : 0
      const why = `no answer in ${Math.round(lateMs + limit.spentMs)} ms`
      throw new TransportError('timeout', why, true, { cause })
    } finally {
      limit.end()
    }
  }

  #bound(limit: TimeLimit): void {
    const { asked, directives, journal } = this.#call
    const usual = attemptBudget(asked, {
      urlMs: this.#url.timeoutMs,
      minMs: this.#options.minRelayTimeoutMs,
      blockTimeMs: this.#options.chain.blockTimeMs,
    })
    const ownMs = journal.mayRest ? Infinity : usual.ms
    const budgetMs = Math.min(directives.relayTimeoutMs ?? ownMs, this.#leftMs())
    this.#isCutShort = journal.mayRest || budgetMs < ownMs
    this.#record.budgetMs = budgetMs
    const isFirm = usual.isFirm || directives.relayTimeoutMs !== null || this.#isCutShort
    limit.allow(budgetMs, isFirm ? null : () => this.#late(limit))
  }

  /** It takes longer than usual: the call may be a slow one everywhere, so it goes on. */
  #late(limit: TimeLimit): void {
    const failure = this.#lateness
    this.#record.late = true
    this.#excuse = this.#upstream.late(this.#url, failure, this.#record.startedMs)
    limit.allow(this.#leftMs())
    const why = `no answer in ${Math.round(this.#record.budgetMs ?? 0)} ms`
    const fault = new TransportError('timeout', why)
    this.#call.late?.(new AttemptFailed(failure, null, fault))
  }

  get #lateness(): FailureClass {
    return this.#options.chain.failures.ofTransport('timeout')
  }

  #leftMs(): number {
    return this.#call.journal.deadlineMs - this.#options.clock.nowMs()
  }

  #judge(received: Incoming): Reply | AttemptFailed {
    const { judge, dialect } = this.#options
    const { asked } = this.#call
    const judgement = judge.judge(received, this.#call, this.#upstream, this.#url)
    const isResult = judgement.kind === 'answer' && judgement.isResult
    // Whatever else it is may repeat the URL that it was asked by.
    const incoming = isResult ? received : this.#url.mask.incoming(received)
    if (judgement.kind === 'refusal') return this.#pass(incoming, judgement.rest, judgement.failure)
    this.#record.missedBlock = judgement.missedBlock
    if (judgement.kind === 'failed') {
      const { failure, detail, passOn, violation } = judgement
      this.#record.violation = violation
      if (violation?.certain) this.#options.pool.caught(this.#upstream)
      const refusal = passOn === 'node-error' ? failure : null
      // A stream cannot be kept to fall back on.
      const isKept = passOn !== null && incoming.body instanceof Uint8Array
      return this.#fail(failure, detail, isKept ? this.#reply(incoming, refusal) : null, null)
    }
    const block = asked.tellsTip && toldBlock(dialect, incoming, this.#call)
    if (block !== null) this.#sight(block)
    return this.#pass(incoming, judgement.rest, null)
  }

  /** Whom the client named has the word about the head that it is known to have. */
  #sight(block: number): void {
    const { pool, chain } = this.#options
    const { asked, directives } = this.#call
    const upstream = this.#upstream
    const head = upstream.latest?.block ?? NaN
    const behind = asked.behindTip ?? 0
    if (asked.behindTip === null) pool.sighted(upstream, block, this.#record.startedMs)
    const isNamed = directives.selectProvider === upstream.name
    const isOwn = isNamed && Math.abs(block - head) <= chain.allowedLagBlocks + behind
    const tipThen = this.#tipThen && this.#tipThen - behind
    if (!isOwn) this.#record.blocksOff = pool.blocksOff(upstream, block, tipThen)
  }

  /** An answer for the client. What streams is settled when its stream ends. */
  #pass(incoming: Incoming, rest: StreamJudge | null, refusal: FailureClass | null): Reply {
    if (incoming.body instanceof Uint8Array) {
      this.#succeed(refusal)
      return this.#reply(incoming, refusal)
    }
    const { clock } = this.#options
    const { signal } = this.#call
    // The head is what the upstream's speed is judged by; the rest is as slow as the client.
    this.#record.endedMs = clock.nowMs()
    this.#upstream.sessions += 1
    const body = new StreamedAnswer(incoming.body, rest, signal, clock, (end) => {
      this.#upstream.sessions -= 1
      if (end.kind === 'complete') this.#succeed(refusal)
      else if (end.kind === 'left') this.#end('aborted', null)
      else if (end.kind === 'defect') this.#end('aborted', ownDefect)
      else this.#breakOff(incoming.status, end)
    })
    return this.#reply({ ...incoming, body }, refusal)
  }

  /** The answer broke when a part of it was on its way to the client. */
  #breakOff(status: number, { cause, isReaderSlow }: StreamBroken): void {
    const { failures } = this.#options.chain
    const isCut = cause instanceof TransportError
    const untrue = isCut ? null : cause.violation
    const malformed = untrue ? failures.ofAnswer('violated') : failures.ofStatus(status)
    const failure = isCut ? failures.ofTransport(cause.fault) : malformed
    // A node may well lose patience with a client that does not take its answer.
    const isExcused = isCut && isReaderSlow
    if (!isCut) this.#record.violation = untrue ?? violation('envelope', cause.message)
    if (!isExcused) this.#upstream.failed(this.#url, failure, this.#method)
    this.#end(failure, isExcused ? `${cause.message}, at a slow client` : cause.message)
  }

  #reply(incoming: Incoming, refusal: FailureClass | null): Reply {
    const { name, latest } = this.#upstream
    return { incoming, upstream: name, refusal, latestBlock: latest?.block ?? null }
  }

  #succeed(refusal: FailureClass | null): void {
    this.#end(refusal ? 'node-error' : 'answer', refusal?.name ?? null)
    const { endedMs, startedMs } = this.#record
    // How long a stream rests says nothing about its upstream.
    const latencyMs = this.#call.journal.mayRest ? null : (endedMs ?? 0) - startedMs
    const { cost } = this.#call.asked
    this.#upstream.succeeded(this.#url, latencyMs, { method: this.#method, cost })
  }

  /** Methods that no spec names are one to the upstream: anybody may make some up. */
  get #method(): string {
    const { known, method } = this.#call.asked
    return known ? method : ''
  }

  #fail(
    failure: FailureClass,
    detail: string,
    reply: Reply | null,
    fault: TransportError | null,
  ): AttemptFailed {
    if (failure.holdOff) this.#holdOff(failure, reply)
    else if (failure.late && (this.#isCutShort || this.isLate)) this.#outrun()
    else {
      // One attempt is one failure.
      this.#excuse?.()
      const isSent = fault?.sent ?? true
      this.#upstream.failed(this.#url, failure, isSent ? this.#method : null)
      this.#pause(failure, reply)
    }
    this.#end(failure, detail)
    return new AttemptFailed(failure, reply, fault)
  }

  #holdOff(failure: FailureClass, reply: Reply | null): void {
    this.#url.holdOff.begin(this.#retryAfterMs(reply), this.#impersonal(failure, reply))
  }

  /** One that is unavailable, and not for what the client asked, may say until when (RFC 9110, 10.2.3). */
  #pause(failure: FailureClass, reply: Reply | null): void {
    if (reply?.incoming.status !== 503 || failure.weight === 0) return
    const retryAfterMs = this.#retryAfterMs(reply)
    if (retryAfterMs !== null)
      this.#url.holdOff.pause(retryAfterMs, this.#impersonal(failure, reply))
  }

  /** What others may be told of it while the URL is left alone. */
  #impersonal(failure: FailureClass, reply: Reply | null): Refusal | null {
    return reply && impersonalRefusal({ incoming: reply.incoming, failure }, this.#call)
  }

  #retryAfterMs(reply: Reply | null): number | null {
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    return parseRetryAfter(retryAfter, this.#options.clock.wallMs())
  }

  /** Another attempt brought the answer, or nobody waits any more. */
  #takenBack(): void {
    const { attempts } = this.#call.journal
    if (this.isLate) {
      // Who was late with the answer shows that the call is a slow one.
      if (attempts.some((each) => each.late && isAnswered(each))) this.#excuse?.()
      const tookMs = this.#options.clock.nowMs() - this.#record.startedMs
      this.#end(this.#lateness, `no answer in ${Math.round(tookMs)} ms`)
    } else this.#end('aborted', null)
    this.#outrun()
  }

  /** It was not waited for to the end. */
  #outrun(): void {
    const { asked, journal } = this.#call
    if (journal.mayRest) return
    this.#upstream.outrun(this.#options.clock.nowMs() - this.#record.startedMs, asked.cost)
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null): void {
    this.#record.endedMs ??= this.#options.clock.nowMs()
    this.#record.result = result
    this.#record.detail = detail
    this.#options.observer.attemptEnded(this.#call, this.#record)
  }
}

/** Also when a stream follows. */
function isAnswered({ result, endedMs }: AttemptRecord): boolean {
  return endedMs !== null && (result === null || result === 'answer' || result === 'node-error')
}

/** The same stream; `ended` is called when all of it has been taken. */
function noticing(body: ByteStream, ended: () => void): ByteStream {
  return {
    length: body.length ?? null,
    [Symbol.asyncIterator]() {
      const source = body[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await source.next()
          if (result.done) ended()
          return result
        },
        async return() {
          await source.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
