// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { CallAborted, RelayError, errorKinds, type ErrorKind } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { release, type Body, type HeaderList } from '../upstream/wire.ts'
import { answerCall } from './answer-call.ts'
import { Calls, brokenOff, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { contentTypeOf, forwardHeaders } from './forwarded-headers.ts'
import type { HttpAnswer, HttpExchange, HttpHandler } from './http-exchange.ts'
import { createHttpListener, type ListenerOptions } from './http-listener.ts'
import { batchPieces, collectShort, type ItemAnswer } from './jsonrpc-batch.ts'
import { makeJsonRpcCall, type CallOrigin, type JsonRpcCall } from './jsonrpc-call.ts'
import { errorBytes, idBytes } from './jsonrpc-error.ts'
import { RequestRefused, readBody, readRequest } from './jsonrpc-request.ts'
import type { Span } from '../json/span.ts'
import type { Listener } from './listener.ts'
import { answerHealth } from './listener-health.ts'
import { ResponseMetadata } from './response-headers.ts'
import { withEnd } from './stream-end.ts'

/** A listener for `POST /` with JSON-RPC 2.0 or 1.0, single or in batches, and `GET /health`. */
export function createJsonRpcListener(options: ListenerOptions): Listener {
  return createHttpListener(options, new JsonRpcHandler(options))
}

const json = 'application/json'
const requestHeaders: HeaderList = ['content-type', json]

/** `POST /` and `GET /health`; refuses everything else. */
export class JsonRpcHandler implements HttpHandler {
  readonly #options: ListenerOptions
  readonly #calls: Calls

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#calls = new Calls(options)
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    if (path === '/') {
      if (verb === 'POST') void this.#post(exchange)
      else this.#refuseVerb(exchange, 'POST')
    } else if (path === '/health') {
      if (verb === 'GET' || verb === 'HEAD') {
        const { health, version } = this.#options
        answerHealth(exchange, health(), version)
      } else this.#refuseVerb(exchange, 'GET, HEAD')
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
    if (request.isNotification) return this.#notify(exchange, call)
    const wording = {
      bodyOf: (reply: Reply) => bodyOf(call, reply),
      contentTypeOf,
      errorType: json,
      errorBytes: ({ kind, message }: RelayError) =>
        errorBytes(kind, message, idBytes(request.body, request.id), guid),
    }
    const { version, iface } = this.#options
    const { responseHeaders } = iface
    await answerCall(exchange, call, wording, { calls: this.#calls, version, responseHeaders })
  }

  /** Whatever comes of it, its client wants no answer. */
  async #notify(exchange: HttpExchange, call: JsonRpcCall): Promise<void> {
    const outcome = await this.#calls.run(call)
    this.#calls.ended(call, outcome)
    if (outcome instanceof CallAborted) return
    const reply = outcome instanceof RelayError ? null : outcome
    if (reply) release(reply.incoming.body)
    const metadata = new ResponseMetadata(call.guid, this.#options.version)
    metadata.add(call.journal, reply)
    void exchange.respond(204, metadata.toHeaders(null), null)
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
