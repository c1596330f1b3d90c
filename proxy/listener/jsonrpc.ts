// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../json/cursor.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { release, type Body } from '../upstream/wire.ts'
import { brokenOff, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { HttpCalls } from './http-calls.ts'
import { forwardHeaders } from './http/forwarded-headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { createHttpListener } from './http/http-server.ts'
import {
  makeJsonRpcCall,
  ownHeaders,
  type CallOrigin,
  type JsonRpcCall,
} from './jsonrpc/jsonrpc-call.ts'
import { answerBatch, bodyOf, type ItemContext } from './jsonrpc/jsonrpc-items.ts'
import { JsonRpcRequest, errorBytes, readBody } from './jsonrpc/jsonrpc-request.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { jsonRpcSockets } from './session/jsonrpc-session.ts'
import { refuseSubscription } from './session/session-subscriptions.ts'

/**
 * A listener for JSON-RPC 2.0 or 1.0, single or in batches, by `POST /` and over WebSocket, and for
 * `GET /health`.
 */
export function createJsonRpcListener(options: ListenerOptions): Listener {
  return listenForJsonRpc(options, new JsonRpcHandler(options), ['/', '/ws', '/websocket'])
}

/** @param socketPaths where WebSockets are taken, beside the chain's own paths */
export function listenForJsonRpc(
  options: ListenerOptions,
  handler: JsonRpcHandler,
  socketPaths: readonly string[],
): Listener {
  return createHttpListener(options, handler, jsonRpcSockets(options, socketPaths))
}

/** `POST /`, or a path of the chain's own, and `GET /health`; refuses everything else. */
export class JsonRpcHandler extends HttpCalls<JsonRpcCall> {
  protected bodyOf(call: JsonRpcCall, reply: Reply): Body {
    return bodyOf(call, reply)
  }

  protected errorBytes(error: RelayError, guid: string, call?: JsonRpcCall): Uint8Array {
    return errorBytes(error, guid, call?.reader.ownId)
  }

  protected take(exchange: HttpExchange): void {
    const { verb, path } = exchange
    const { internalPaths } = this.options.iface
    if (path === '/' || internalPaths.has(path)) {
      if (verb === 'POST') this.#post(exchange)
      else this.refuseVerb(exchange, 'path', 'POST')
    } else if (path === '/health') this.refuseVerb(exchange, 'path', 'GET, HEAD')
    else {
      const paths = ['/', ...internalPaths].join(', ')
      const message = `this listener serves POST ${paths} with a JSON-RPC body, WebSockets, and GET /health`
      exchange.answer(this.refuse(errorKinds.noSuchPath, message))
    }
  }

  #post(exchange: HttpExchange): void {
    const guid = this.options.newGuid()
    const failed = (cause: unknown) => {
      const error = cause instanceof RelayError ? cause : internal(cause)
      exchange.answer(this.refusal(error, guid))
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
    const { requestHeaders: allowed, internalPaths } = this.options.iface
    return {
      internalPath: internalPaths.has(exchange.path) ? exchange.path : '',
      directives: readDirectives(exchange.headers),
      requestHeaders: forwardHeaders(exchange.headers, allowed, ownHeaders),
      signal: exchange.signal,
    }
  }

  #single(exchange: HttpExchange, span: Span, guid: string): void {
    const request = new JsonRpcRequest(exchange.body, span)
    const call = makeJsonRpcCall(request, this.#originOf(exchange), guid, this.options)
    refuseSubscription(request, call, this.options.subscriptions)
    if (request.isNotification) void this.#notify(exchange, call)
    else void this.answer(exchange, call)
  }

  /** Whatever comes of it, its client wants no answer. */
  async #notify(exchange: HttpExchange, call: JsonRpcCall): Promise<void> {
    const outcome = await this.calls.run(call)
    this.calls.ended(call, outcome)
    if (outcome instanceof CallAborted) return
    const reply = outcome instanceof RelayError ? null : outcome
    if (reply) release(reply.incoming.body)
    const metadata = this.metadataOf(call.guid)
    metadata.add(call.journal, reply)
    void exchange.respond(204, metadata.toHeaders(null), null)
  }

  async #batch(exchange: HttpExchange, items: readonly Span[], guid: string): Promise<void> {
    const metadata = this.metadataOf(guid)
    const context: ItemContext = {
      ...this.#originOf(exchange),
      told: (journal, reply) => {
        metadata.add(journal, reply)
      },
      subscribe: (request, call) => refuseSubscription(request, call, this.options.subscriptions),
    }
    const serving = { ...this.options, calls: this.calls }
    try {
      const body = await answerBatch(exchange.body, items, guid, context, serving)
      if (exchange.gone) return
      if (body === null) void exchange.respond(204, metadata.toHeaders(null), null)
      else await exchange.respond(200, metadata.toHeaders('application/json'), body)
    } catch (cause) {
      // Nothing but the stream of an item fails here.
      throw brokenOff(cause)
    }
  }
}
