// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { CallAborted, RelayError, errorKinds, type ErrorKind } from '../relay/errors.ts'
import { release, type HeaderList } from '../upstream/wire.ts'
import { answerCall, type Answering } from './answer-call.ts'
import { Calls, brokenOff, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { contentTypeOf, forwardHeaders } from './http/forwarded-headers.ts'
import {
  answerHealth,
  type HttpAnswer,
  type HttpExchange,
  type HttpHandler,
} from './http/http-exchange.ts'
import { createHttpListener } from './http/http-server.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { batchPieces, collectShort } from './jsonrpc/jsonrpc-batch.ts'
import { makeJsonRpcCall, type CallOrigin, type JsonRpcCall } from './jsonrpc/jsonrpc-call.ts'
import { errorBytes, idBytes } from './jsonrpc/jsonrpc-error.ts'
import { answerItem, bodyOf, type ItemContext } from './jsonrpc/jsonrpc-item.ts'
import { jsonRpcSockets } from './session/jsonrpc-session.ts'
import { RequestRefused, readBody, readRequest } from './jsonrpc/jsonrpc-request.ts'
import type { Span } from '../json/cursor.ts'
import { refuseSubscription } from './session/session-subscriptions.ts'
import { ResponseMetadata } from './http/response-headers.ts'

const socketPaths = ['/', '/ws', '/websocket']

/**
 * A listener for JSON-RPC 2.0 or 1.0, single or in batches, by `POST /` and over WebSocket, and for
 * `GET /health`.
 */
export function createJsonRpcListener(options: ListenerOptions): Listener {
  const calls = new Calls(options)
  const sockets = jsonRpcSockets(options, calls, socketPaths)
  return createHttpListener(options, new JsonRpcHandler(options), sockets)
}

const json = 'application/json'
const requestHeaders: HeaderList = ['content-type', json]

/** `POST /`, or a path of the chain's own, and `GET /health`; refuses everything else. */
export class JsonRpcHandler implements HttpHandler {
  readonly #options: ListenerOptions
  readonly #calls: Calls
  readonly #answering: Answering<JsonRpcCall>

  constructor(options: ListenerOptions) {
    const { version, iface } = options
    this.#options = options
    this.#calls = new Calls(options)
    this.#answering = {
      calls: this.#calls,
      version,
      responseHeaders: iface.responseHeaders,
      bodyOf,
      contentTypeOf,
      errorBytes: ({ kind, message }, { reader, guid }) =>
        errorBytes(kind, message, reader.ownId, guid),
    }
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    if (path === '/' || this.#options.iface.internalPaths.has(path)) {
      if (verb === 'POST') this.#post(exchange)
      else this.#refuseVerb(exchange, 'POST')
    } else if (path === '/health') {
      if (verb === 'GET' || verb === 'HEAD') {
        const { health, version } = this.#options
        answerHealth(exchange, health(), version)
      } else this.#refuseVerb(exchange, 'GET, HEAD')
    } else {
      const paths = ['/', ...this.#options.iface.internalPaths].join(', ')
      const message = `this listener serves POST ${paths} with a JSON-RPC body, WebSockets, and GET /health`
      exchange.answer(this.refuse(errorKinds.noSuchPath, message))
    }
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    const guid = this.#options.newGuid()
    return this.#refusal(new RelayError(kind, message), idBytes(new Uint8Array(), null), guid)
  }

  #refuseVerb(exchange: HttpExchange, allowed: string): void {
    const message = `this path takes ${allowed} only`
    const answer = this.refuse(errorKinds.verbNotAllowed, message)
    exchange.answer({ ...answer, headers: [...answer.headers, 'Allow', allowed] })
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

  #post(exchange: HttpExchange): void {
    const guid = this.#options.newGuid()
    const failed = (cause: unknown) => {
      const error = cause instanceof RelayError ? cause : internal(cause)
      const id = cause instanceof RequestRefused ? cause.id : null
      exchange.answer(this.#refusal(error, idBytes(exchange.body, id), guid))
    }
    try {
      const body = readBody(exchange.body)
      if (body.kind === 'single') this.#single(exchange, body.span, guid)
      else this.#batch(exchange, body.items, guid).catch(failed)
    } catch (cause) {
      failed(cause)
    }
  }

  #originOf(exchange: HttpExchange): CallOrigin {
    const { requestHeaders: allowed, internalPaths } = this.#options.iface
    return {
      internalPath: internalPaths.has(exchange.path) ? exchange.path : '',
      directives: readDirectives(exchange.headers),
      requestHeaders: forwardHeaders(exchange.headers, allowed, requestHeaders),
      signal: exchange.signal,
    }
  }

  #single(exchange: HttpExchange, span: Span, guid: string): void {
    const request = readRequest(exchange.body, span)
    const call = makeJsonRpcCall(request, this.#originOf(exchange), guid, this.#options)
    refuseSubscription(request, call, this.#options.subscriptions)
    if (request.isNotification) return void this.#notify(exchange, call)
    void answerCall(exchange, call, this.#answering)
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
    const context: ItemContext = {
      ...origin,
      told: (journal, reply) => {
        metadata.add(journal, reply)
      },
      subscribe: (request, call) => refuseSubscription(request, call, this.#options.subscriptions),
    }
    const options = { ...this.#options, calls: this.#calls }
    const pieces = batchPieces(items, (span, index, joined) =>
      answerItem(exchange.body, span, `${guid}-${index}`, context, options, joined),
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
}
