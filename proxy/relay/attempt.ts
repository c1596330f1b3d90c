// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { parseRetryAfter } from '../upstream/hold-off.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { PoolObserver } from '../upstream/observer.ts'
import type { Pool } from '../upstream/pool.ts'
import { readBlockNumber } from '../upstream/result.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { header, release, type Incoming } from '../upstream/wire.ts'
import { attemptBudgetMs } from './attempt-budget.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { CallAborted } from './errors.ts'
import type { AttemptKind, AttemptRecord } from './journal.ts'
import { addonsOf } from './needs.ts'
import type { RelayObserver } from './observer.ts'
import type { Reply, StreamJudge } from './reply.ts'
import { StreamedAnswer, type StreamBroken } from './streamed-answer.ts'

/** Asks one upstream on behalf of a call. @throws AttemptFailed @throws CallAborted */
export type Attempt = (call: Call, upstream: Upstream) => Promise<Reply>

export interface AttemptOptions {
  readonly chain: Chain
  readonly pool: Pool
  readonly minRelayTimeoutMs: number
  readonly clock: Clock
  readonly observer: RelayObserver
  readonly poolObserver: PoolObserver
}

/**
 * One question to one upstream: within its time, by the best of its URLs, failing over to the next
 * URL when one fails fast. It judges what comes back and tells the upstream's score and standing.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  return async (call, upstream) => {
    const urls = upstream.urlsFor(addonsOf(call))
    let last: AttemptFailed | null = null
    upstream.sessions += 1
    try {
      for (const url of urls) {
        const kind: AttemptKind = last === null ? call.attemptKind : 'failover'
        const outcome = await new Asking(options, call, upstream, url, kind).run()
        if (!(outcome instanceof AttemptFailed)) return outcome
        last = outcome
        if (!mayFailOver(call, outcome)) break
      }
    } finally {
      upstream.sessions -= 1
    }
    if (last === null) throw new Error('an upstream was chosen that has no URL for the call')
    throw last
  }
}

/** A slow URL has used the time up; and what may have been done must not be done twice. */
function mayFailOver(call: Call, failed: AttemptFailed): boolean {
  if (!failed.sent || failed.failure.holdOff) return true
  return call.asked.kind === 'read' && failed.failure.retry && !failed.timedOut
}

/** One request to one URL, from its sending to what follows from the answer. */
class Asking {
  readonly #options: AttemptOptions
  readonly #call: Call
  readonly #upstream: Upstream
  readonly #url: NodeUrl
  readonly #record: AttemptRecord

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
    this.#record = call.journal.begin(upstream.name, kind, options.clock.nowMs())
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
        this.#end('aborted', null)
        this.#upstream.outrun(this.#elapsedMs(), this.#call.asked.cost)
        throw new CallAborted()
      }
      if (!(error instanceof TransportError)) throw error
      const failure = this.#options.chain.failures.ofTransport(error.fault)
      return this.#fail(failure, error.message, null, error)
    }
  }

  /** Sends, and takes the request back when its time is over or nobody waits any more. */
  async #send(): Promise<Incoming> {
    const { signal, request } = this.#call
    const budgetMs = this.#budgetMs()
    const abort = new AbortController()
    const takeBack = () => {
      abort.abort()
    }
    let timedOut = false
    const cancelTimer = this.#options.clock.after(budgetMs, () => {
      timedOut = true
      abort.abort()
    })
    signal.addEventListener('abort', takeBack, { once: true })
    try {
      return await this.#url.transport.send(request, abort.signal)
    } catch (cause) {
      if (!timedOut) throw cause
      const spent = `no answer in ${Math.round(budgetMs)} ms`
      throw new TransportError('timeout', spent, true, { cause })
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', takeBack)
    }
  }

  #budgetMs(): number {
    const { asked, directives, journal } = this.#call
    const ownMs = attemptBudgetMs(asked, {
      directiveMs: directives.relayTimeoutMs,
      urlMs: this.#url.timeoutMs,
      minMs: this.#options.minRelayTimeoutMs,
      blockTimeMs: this.#options.chain.blockTimeMs,
    })
    return Math.min(ownMs, journal.deadlineMs - this.#record.startedMs)
  }

  #judge(incoming: Incoming): Reply | AttemptFailed {
    const { failures } = this.#options.chain
    const finding = this.#call.reader.read(incoming)
    if (finding.kind === 'malformed') {
      // A broken answer that claims success is never passed on; an error page is the node's own word.
      const own = incoming.status >= 400 ? this.#keep(incoming, false) : null
      return this.#fail(failures.ofStatus(incoming.status), finding.why, own, null)
    }
    if (finding.kind === 'node-error') {
      const { error } = finding
      const failure = failures.ofNodeError(error)
      if (failure.retry || failure.holdOff)
        return this.#fail(failure, `code ${error.code}`, this.#keep(incoming, true), null)
      return this.#pass(incoming, finding.rest, 'node-error', failure.name)
    }
    const { tellsTip } = this.#call.asked
    const block = tellsTip && readBlockNumber(incoming.body, tellsTip)
    if (block !== null) this.#options.pool.sighted(this.#upstream, block)
    return this.#pass(incoming, finding.rest, 'answer', null)
  }

  /** An answer for the client. What streams is settled when its stream ends. */
  #pass(
    incoming: Incoming,
    rest: StreamJudge | undefined,
    result: 'answer' | 'node-error',
    detail: string | null,
  ): Reply {
    const isNodeError = result === 'node-error'
    if (incoming.body instanceof Uint8Array) {
      this.#succeed(result, detail)
      return this.#reply(incoming, isNodeError)
    }
    const { clock } = this.#options
    const { signal } = this.#call
    // The head is what the upstream's speed is judged by; the rest is as slow as the client.
    this.#record.endedMs = clock.nowMs()
    this.#upstream.sessions += 1
    const body = new StreamedAnswer(incoming.body, rest ?? null, signal, clock, (end) => {
      this.#upstream.sessions -= 1
      if (end.kind === 'complete') this.#succeed(result, detail)
      else if (end.kind === 'left') this.#end('aborted', null)
      else this.#breakOff(incoming.status, end)
    })
    return this.#reply({ ...incoming, body }, isNodeError)
  }

  /** The answer broke when a part of it was on its way to the client. */
  #breakOff(status: number, { cause, isReaderSlow }: StreamBroken): void {
    const { failures } = this.#options.chain
    const isCut = cause instanceof TransportError
    const failure = isCut ? failures.ofTransport(cause.fault) : failures.ofStatus(status)
    // A node may well lose patience with a client that does not take its answer.
    if (isCut && isReaderSlow) this.#end(failure, `${cause.message}, at a slow client`)
    else this.#fail(failure, cause.message, null, isCut ? cause : null)
  }

  /** An answer to fall back on; a stream cannot be kept. */
  #keep(incoming: Incoming, isNodeError: boolean): Reply | null {
    return incoming.body instanceof Uint8Array ? this.#reply(incoming, isNodeError) : null
  }

  #reply(incoming: Incoming, isNodeError: boolean): Reply {
    const { name, latest } = this.#upstream
    return { incoming, upstream: name, isNodeError, latestBlock: latest?.block ?? null }
  }

  #succeed(result: 'answer' | 'node-error', detail: string | null): void {
    this.#end(result, detail)
    const latencyMs = (this.#record.endedMs ?? 0) - this.#record.startedMs
    this.#upstream.succeeded(this.#url, latencyMs, this.#call.asked.cost)
  }

  #fail(
    failure: FailureClass,
    detail: string,
    reply: Reply | null,
    fault: TransportError | null,
  ): AttemptFailed {
    if (failure.holdOff) this.#holdOff(reply)
    else this.#upstream.failed(this.#url, failure)
    this.#end(failure, detail)
    return new AttemptFailed(failure, reply, fault)
  }

  #holdOff(reply: Reply | null): void {
    const { clock, poolObserver } = this.#options
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    const holdOffMs = this.#url.holdOff.begin(parseRetryAfter(retryAfter, clock.wallMs()))
    poolObserver.heldOff(this.#upstream.name, this.#url.printable, holdOffMs)
  }

  #elapsedMs(): number {
    return this.#options.clock.nowMs() - this.#record.startedMs
  }

  #end(result: Exclude<AttemptRecord['result'], null>, detail: string | null): void {
    this.#record.endedMs ??= this.#options.clock.nowMs()
    this.#record.result = result
    this.#record.detail = detail
    this.#options.observer.attemptEnded(this.#call, this.#record)
  }
}
