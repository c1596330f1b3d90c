// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call, Client } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { header, type Body, type ByteStream, type HeaderList } from '../upstream/wire.ts'
import { ResponseMetadata, forwardHeaders } from './headers.ts'
import {
  healthAnswer,
  type HttpAnswer,
  type HttpExchange,
  type HttpHandler,
} from './http/http-exchange.ts'
import { jsonType, refusalOfPage } from './request-head.ts'
import type { CallEnd, ListenerOptions } from './listener.ts'

/** The result of a call. */
export type CallOutcome = Reply | RelayError | CallAborted

/** Runs the calls of one listener, for any interface, and reports how they ended. */
export class Calls {
  readonly #options: Pick<ListenerOptions, 'relay' | 'clock' | 'observer'>

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Never rejects: an unexpected failure becomes an internal error with its cause. */
  run(call: Call): Promise<CallOutcome> {
    return this.#options
      .relay(call)
      .then(undefined, (cause: unknown) =>
        call.signal.aborted ? new CallAborted() : errorOf(cause),
      )
  }

  /** Body of a batch item's streamed answer. Once a consumer starts it, the call ends with it. */
  async *endingWith(body: ByteStream, call: Call, reply: Reply): AsyncGenerator<Uint8Array> {
    let outcome: CallOutcome = new CallAborted()
    try {
      yield* body
      outcome = reply
    } catch (cause) {
      outcome = brokenOff(cause)
      throw cause
    } finally {
      this.ended(call, outcome)
    }
  }

  /** Reports to the observer that a subscribe or unsubscribe call was answered. */
  subscriptionAnswered(call: Call, isRefused: boolean): void {
    this.#report(call, { kind: 'subscription', isRefused })
  }

  /** Reports to the observer how a call ended. */
  ended(call: Call, outcome: CallOutcome): void {
    if (call.signal.aborted || outcome instanceof CallAborted)
      this.#report(call, { kind: 'abandoned' })
    else if (outcome instanceof RelayError) this.#report(call, { kind: 'error', error: outcome })
    else this.#report(call, { kind: 'reply', reply: outcome })
  }

  #report(call: Call, end: CallEnd): void {
    const { clock, observer } = this.#options
    observer.callEnded(call, end, clock.nowMs() - call.journal.startedMs)
  }
}

/** The client's error. For a router defect it shows only the guid; the log has the cause. */
export function errorOf(cause: unknown): RelayError {
  if (cause instanceof RelayError) return cause
  return new RelayError(errorKinds.internal, 'internal error of the router', { cause })
}

/** Error for an answer stream that failed, at the upstream or through a defect in the router. */
export function brokenOff(cause: unknown): RelayError {
  if (!isStreamFailure(cause)) return errorOf(cause)
  const message = 'the answer of the upstream broke off'
  return new RelayError(errorKinds.upstreamFailed, message, { cause })
}

/** Forwarded with 429 and 503 even if the spec does not list it (RFC 9110, 10.2.3). */
const retryAfter: ReadonlySet<string> = new Set(['retry-after'])

/** Calls of one interface over HTTP, and `GET /health`. */
export abstract class HttpCalls<C extends Call = Call> implements HttpHandler {
  protected readonly options: ListenerOptions
  protected readonly calls: Calls
  /** Content types that web pages may post. */
  protected readonly typesOfPages: RegExp = jsonType

  constructor(options: ListenerOptions) {
    this.options = options
    this.calls = new Calls(options)
  }

  /** Serves any request except `GET /health`. Must not throw. */
  protected abstract handle(exchange: HttpExchange): void
  /** The body for the client, or null for none. */
  protected abstract bodyOf(call: C, reply: Reply): Body | null
  /** Formats the error as JSON; `call` is absent if the request never became a call. */
  protected abstract errorBytes(error: RelayError, guid: string, call?: C): Uint8Array

  /** The upstream's content type, JSON if it sends none, or null to omit the header. */
  protected contentTypeOf(headers: HeaderList): string | null {
    return header(headers, 'content-type') ?? 'application/json'
  }

  serve(exchange: HttpExchange): void {
    const { verb, path, head } = exchange
    if (head.isFromPage) {
      const refused = refusalOfPage(exchange, this.options.allowedOrigins, this.typesOfPages)
      if (refused) return exchange.answer(this.refuse(refused, exchange))
    }
    if (path !== '/health' || (verb !== 'GET' && verb !== 'HEAD')) return this.handle(exchange)
    const { status, text } = healthAnswer(this.options.health())
    const headers = ['Content-Type', 'text/plain', 'Router-Version', this.options.version]
    exchange.answer({ status, headers, body: Buffer.from(text) })
  }

  refuse(error: RelayError, client: Client): HttpAnswer {
    return this.refusal(error, this.options.newGuid(), client)
  }

  protected refuseVerb(exchange: HttpExchange, target: string, allowed: string): void {
    const message = `this ${target} takes ${allowed} only`
    const answer = this.refuse(new RelayError(errorKinds.verbNotAllowed, message), exchange)
    exchange.answer({ ...answer, headers: [...answer.headers, 'Allow', allowed] })
  }

  /** Answers a request that never became a call. */
  protected refusal(error: RelayError, guid: string, client: Client): HttpAnswer {
    this.options.observer.requestRefused(error, guid, client)
    return {
      status: this.statusOf(error),
      headers: errorHeaders(this.metadataOf(guid), error),
      body: this.errorBytes(error, guid),
    }
  }

  protected statusOf({ kind }: RelayError): number {
    return kind.httpStatus
  }

  protected metadataOf(guid: string): ResponseMetadata {
    return new ResponseMetadata(guid, this.options.version)
  }

  /**
   * Runs the exchange's call and answers with the upstream's bytes unchanged, or with a router
   * error. Sends nothing if the client has disconnected. Never rejects.
   */
  protected async answer(exchange: HttpExchange, call: C): Promise<void> {
    const outcome = await this.calls.run(call)
    if (outcome instanceof CallAborted) return this.calls.ended(call, outcome)
    if (outcome instanceof RelayError) return this.#fail(exchange, call, outcome)
    try {
      const { journal, directives } = call
      const metadata = this.metadataOf(call.guid).add(journal, outcome, directives.debugRelay)
      const { status, headers } = outcome.incoming
      const own = metadata.toHeaders(this.contentTypeOf(headers))
      const { responseHeaders } = this.options.iface
      const mayComeBack = status === 429 || status === 503
      const allowed = mayComeBack ? responseHeaders.union(retryAfter) : responseHeaders
      const named = forwardHeaders(headers, allowed, own)
      const { retryAfterMs = null } = outcome
      // The node may name the end of its limit in words, or leave it open.
      const isUnnamed = retryAfterMs !== null && header(named, 'retry-after') === null
      const forwarded = isUnnamed ? [...named, ...retryAfterOf(retryAfterMs)] : named
      const length = exchange.verb === 'HEAD' ? header(headers, 'content-length') : null
      const all = length === null ? forwarded : [...forwarded, 'Content-Length', length]
      const body = this.bodyOf(call, outcome)
      const written = exchange.respond(statusFor(status, body), all, body)
      if (written) await written
    } catch (cause) {
      return this.#fail(exchange, call, brokenOff(cause))
    }
    this.calls.ended(call, outcome)
  }

  /** Answers with a router error. Sends nothing if an answer has already begun. */
  #fail(exchange: HttpExchange, call: C, error: RelayError): void {
    const { journal, directives } = call
    const metadata = this.metadataOf(call.guid).add(journal, null, directives.debugRelay)
    const headers = errorHeaders(metadata, error)
    this.calls.ended(call, error)
    const body = this.errorBytes(error, call.guid, call)
    exchange.answer({ status: this.statusOf(error), headers, body })
  }
}

function errorHeaders(metadata: ResponseMetadata, { retryAfterMs }: RelayError): HeaderList {
  return [...metadata.toHeaders('application/json'), ...retryAfterOf(retryAfterMs)]
}

function retryAfterOf(ms: number | null): HeaderList {
  return ms === null ? [] : ['Retry-After', String(Math.ceil(ms / 1_000))]
}

/** The upstream's status, or 502 if HTTP does not allow that status with this body. */
function statusFor(status: number, body: Body | null): number {
  const isOdd = status < 200 || status > 599 || (body !== null && isBodiless(status))
  return isOdd ? 502 : status
}

/** Statuses that carry no body (RFC 9110, 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
