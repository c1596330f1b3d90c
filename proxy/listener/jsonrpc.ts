// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Address } from '../config/types.ts'
import { CallAborted, RelayError, errorKinds, type ErrorKind } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import type { Relay } from '../relay/step.ts'
import { release, type Body, type HeaderList } from '../upstream/wire.ts'
import { Calls, brokenOff, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { contentTypeOf, forwardHeaders } from './forwarded-headers.ts'
import type { HttpAnswer, HttpExchange, HttpHandler } from './http-exchange.ts'
import { createHttpServer } from './http-server.ts'
import { batchPieces, collectShort, type ItemAnswer } from './jsonrpc-batch.ts'
import { makeJsonRpcCall, type CallOrigin, type JsonRpcCall } from './jsonrpc-call.ts'
import { errorBytes, idBytes } from './jsonrpc-error.ts'
import { RequestRefused, readBody, readRequest, type JsonRpcRequest } from './jsonrpc-request.ts'
import type { Span } from '../json/span.ts'
import type { Listener } from './listener.ts'
import type { ListenerObserver } from './observer.ts'
import { ResponseMetadata } from './response-headers.ts'
import { withEnd } from './stream-end.ts'

export interface JsonRpcListenerOptions {
  readonly address: Address
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
  /** Of a request body, decoded. */
  readonly maxRequestBytes: number
  /** Goes into `Router-Version`. */
  readonly version: string
  /** A new unique name for a request. */
  readonly newGuid: () => string
  /** Whether this listener can serve, for `GET /health`. */
  readonly health: () => boolean
}

/** A listener for `POST /` with JSON-RPC 2.0 or 1.0, single or in batches, and `GET /health`. */
export function createJsonRpcListener(options: JsonRpcListenerOptions): Listener {
  const { address, maxRequestBytes, clock, observer } = options
  return createHttpServer({
    address,
    maxRequestBytes,
    clock,
    handler: new JsonRpcHandler(options),
    connectionsChanged: (open) => {
      observer.connectionsChanged(open)
    },
  })
}

const json = 'application/json'
const requestHeaders: HeaderList = ['content-type', json]

class JsonRpcHandler implements HttpHandler {
  readonly #options: JsonRpcListenerOptions
  readonly #calls: Calls

  constructor(options: JsonRpcListenerOptions) {
    this.#options = options
    this.#calls = new Calls(options)
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    if (path === '/') {
      if (verb === 'POST') void this.#post(exchange)
      else this.#refuseVerb(exchange, 'POST')
    } else if (path === '/health') {
      if (verb === 'GET' || verb === 'HEAD') this.#health(exchange)
      else this.#refuseVerb(exchange, 'GET, HEAD')
    } else {
      const message = 'this listener serves POST / with a JSON-RPC body, and GET /health'
      const { status, headers, body } = this.refuse(errorKinds.noSuchPath, message)
      void exchange.respond(status, headers, body)
    }
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    const guid = this.#options.newGuid()
    return this.#refusal(new RelayError(kind, message), idBytes(new Uint8Array(), null), guid)
  }

  #refuseVerb(exchange: HttpExchange, allowed: string): void {
    const message = `this path takes ${allowed} only`
    const { status, headers, body } = this.refuse(errorKinds.verbNotAllowed, message)
    void exchange.respond(status, [...headers, 'Allow', allowed], body)
  }

  #refusal(error: RelayError, id: Uint8Array, guid: string): HttpAnswer {
    this.#options.observer.requestRefused(error, guid)
    const { kind, message } = error
    return {
      status: kind.httpStatus,
      headers: new ResponseMetadata(guid, this.#options.version).toHeaders(json),
      body: errorBytes(kind, message, id, guid),
    }
  }

  #health(exchange: HttpExchange): void {
    const isHealthy = this.#options.health()
    const text = isHealthy ? 'Health status OK' : 'Unhealthy'
    const headers = ['Content-Type', 'text/plain', 'Router-Version', this.#options.version]
    void exchange.respond(isHealthy ? 200 : 503, headers, Buffer.from(text))
  }

  /** Never rejects. */
  async #post(exchange: HttpExchange): Promise<void> {
    const guid = this.#options.newGuid()
    try {
      const body = readBody(exchange.body)
      if (body.kind === 'single') await this.#single(exchange, body.span, guid)
      else await this.#batch(exchange, body.items, guid)
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      const id = cause instanceof RequestRefused ? cause.id : null
      const { status, headers, body } = this.#refusal(error, idBytes(exchange.body, id), guid)
      void exchange.respond(status, headers, body)
    }
  }

  #originOf(exchange: HttpExchange): CallOrigin {
    const allowed = this.#options.iface.requestHeaders
    return {
      directives: readDirectives(exchange.headers),
      requestHeaders: forwardHeaders(exchange.headers, allowed, requestHeaders),
      signal: exchange.signal,
    }
  }

  async #single(exchange: HttpExchange, span: Span, guid: string): Promise<void> {
    const request = readRequest(exchange.body, span)
    const call = makeJsonRpcCall(request, this.#originOf(exchange), guid, this.#options)
    const outcome = await this.#calls.run(call)
    if (outcome instanceof CallAborted) return this.#calls.ended(call, outcome)

    if (outcome instanceof RelayError) return this.#fail(exchange, request, call, outcome)
    const metadata = new ResponseMetadata(guid, this.#options.version)
    metadata.add(call.journal, outcome)
    if (request.isNotification) {
      release(outcome.incoming.body)
      void exchange.respond(204, metadata.toHeaders(null), null)
      return this.#calls.ended(call, outcome)
    }
    await this.#pass(exchange, request, call, outcome, metadata)
  }

  /** Answers with an error of the router's own; says nothing where an answer has begun already. */
  #fail(
    exchange: HttpExchange,
    request: JsonRpcRequest,
    call: JsonRpcCall,
    error: RelayError,
  ): void {
    const metadata = new ResponseMetadata(call.guid, this.#options.version)
    metadata.add(call.journal, null)
    this.#calls.ended(call, error)
    const { kind, message } = error
    const bytes = errorBytes(kind, message, idBytes(request.body, request.id), call.guid)
    void (request.isNotification
      ? exchange.respond(204, metadata.toHeaders(null), null)
      : exchange.respond(kind.httpStatus, metadata.toHeaders(json), bytes))
  }

  /** Writes an upstream's answer as it is. */
  async #pass(
    exchange: HttpExchange,
    request: JsonRpcRequest,
    call: JsonRpcCall,
    reply: Reply,
    metadata: ResponseMetadata,
  ): Promise<void> {
    const { status, headers } = reply.incoming
    const own = metadata.toHeaders(contentTypeOf(headers))
    const all = forwardHeaders(headers, this.#options.iface.responseHeaders, own)
    const written = exchange.respond(statusOf(status), all, bodyOf(call, reply))
    if (written) {
      try {
        await written
      } catch (cause) {
        return this.#fail(exchange, request, call, brokenOff(cause))
      }
    }
    this.#calls.ended(call, reply)
  }

  async #batch(exchange: HttpExchange, items: readonly Span[], guid: string): Promise<void> {
    const origin = this.#originOf(exchange)
    const metadata = new ResponseMetadata(guid, this.#options.version)
    const pieces = batchPieces(items, (span, index) =>
      this.#item(exchange, span, origin, `${guid}-${index}`, metadata),
    )
    try {
      const body = await collectShort(pieces)
      if (exchange.gone) return
      const isEmpty = body instanceof Uint8Array && body.length === 0
      if (isEmpty) void exchange.respond(204, metadata.toHeaders(null), null)
      else await exchange.respond(200, metadata.toHeaders(json), body)
    } catch (cause) {
      // Nothing but the stream of an item fails here.
      throw brokenOff(cause)
    }
  }

  /** Answers one item of a batch. Never rejects. */
  async #item(
    exchange: HttpExchange,
    span: Span,
    origin: CallOrigin,
    guid: string,
    metadata: ResponseMetadata,
  ): Promise<ItemAnswer> {
    if (exchange.gone) return null
    try {
      const request = readRequest(exchange.body, span)
      const call = makeJsonRpcCall(request, origin, guid, this.#options)
      const outcome = settled(call, await this.#calls.run(call))
      if (outcome instanceof RelayError) {
        this.#calls.ended(call, outcome)
        metadata.add(call.journal, null)
        if (request.isNotification) return null
        const id = idBytes(request.body, request.id)
        return errorBytes(outcome.kind, outcome.message, id, guid)
      }
      if (!(outcome instanceof CallAborted)) {
        metadata.add(call.journal, outcome)
        if (!request.isNotification) return this.#itemBody(call, outcome)
        release(outcome.incoming.body)
      }
      this.#calls.ended(call, outcome)
      return null
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      const id = cause instanceof RequestRefused ? cause.id : null
      this.#options.observer.requestRefused(error, guid)
      return errorBytes(error.kind, error.message, idBytes(exchange.body, id), guid)
    }
  }

  /** A call whose answer streams ends with its stream. */
  #itemBody(call: JsonRpcCall, reply: Reply): Body {
    const body = bodyOf(call, reply)
    if (body instanceof Uint8Array) {
      this.#calls.ended(call, reply)
      return body
    }
    return withEnd(body, (end) => {
      if (end.kind === 'complete') this.#calls.ended(call, reply)
      else if (end.kind === 'left') this.#calls.ended(call, new CallAborted())
      else this.#calls.ended(call, brokenOff(end.cause))
    })
  }
}

/** In a batch, what is no JSON-RPC cannot be passed on: it would spoil the answers to the others. */
function settled(
  call: JsonRpcCall,
  outcome: Reply | RelayError | CallAborted,
): Reply | RelayError | CallAborted {
  if (outcome instanceof RelayError || outcome instanceof CallAborted) return outcome
  // What streams was found to be an answer, or nobody could have passed it on.
  if (!(outcome.incoming.body instanceof Uint8Array)) return outcome
  const finding = call.reader.findingOf(outcome.incoming)
  if (finding.kind !== 'malformed') return outcome
  const { status } = outcome.incoming
  return new RelayError(
    errorKinds.upstreamFailed,
    `the upstream answered with HTTP status ${status} and ${finding.why}`,
  )
}

function bodyOf(call: JsonRpcCall, { incoming }: Reply): Body {
  const { body } = incoming
  return body instanceof Uint8Array ? call.reader.bytesOf(incoming, body) : body
}

/** An upstream's status, unless it is one that cannot come with a body. */
function statusOf(status: number): number {
  return status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304
    ? status
    : 502
}
