// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../json/scanner.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import type { Body } from '../upstream/wire.ts'
import { HttpCalls, brokenOff, errorOf } from './calls.ts'
import { readDirectives } from './directives.ts'
import { forwardHeaders } from './headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { HttpServer } from './http/http-server.ts'
import {
  makeJsonRpcCall,
  ownHeaders,
  type CallOrigin,
  type JsonRpcCall,
} from './jsonrpc/jsonrpc-call.ts'
import { answerBody, drop, type ItemContext } from './jsonrpc/jsonrpc-items.ts'
import {
  JsonRpcRequest,
  RequestRefused,
  errorBytes,
  noSuchSubscription,
  readBody,
  type RequestBody,
} from './jsonrpc/jsonrpc-request.ts'
import type { Listener, ListenerOptions, SubscriptionServing } from './listener.ts'
import { WebSocketServer } from './websocket/websocket-server.ts'

/**
 * Listener for JSON-RPC 2.0 or 1.0, single or in batches, by `POST /` and WebSocket, and for `GET
 * /health`.
 */
export function createJsonRpcListener(options: ListenerOptions): Listener {
  return listenForJsonRpc(options, new JsonRpcHandler(options), ['/', '/ws', '/websocket'])
}

/** @param socketPaths WebSocket paths in addition to the chain's internal paths */
export function listenForJsonRpc(
  options: ListenerOptions,
  handler: JsonRpcHandler,
  socketPaths: readonly string[],
): Listener {
  const sockets = new WebSocketServer(options, socketPaths)
  return new HttpServer({ ...options, handler, sockets })
}

/** Serves `POST /`, the chain's internal paths, and `GET /health`. Refuses everything else. */
export class JsonRpcHandler extends HttpCalls<JsonRpcCall> {
  protected bodyOf({ reader }: JsonRpcCall, { incoming }: Reply): Body {
    return reader.bodyOf(incoming)
  }

  protected errorBytes(error: RelayError, guid: string, call?: JsonRpcCall): Uint8Array {
    return errorBytes(error, guid, call?.reader.ownId)
  }

  protected handle(exchange: HttpExchange): void {
    const { verb, path } = exchange
    const { internalPaths } = this.options.iface
    if (path === '/' || internalPaths.has(path)) {
      if (verb === 'POST') this.#post(exchange)
      else this.refuseVerb(exchange, 'path', 'POST')
    } else if (path === '/health') this.refuseVerb(exchange, 'path', 'GET, HEAD')
    else {
      const paths = ['/', ...internalPaths].join(', ')
      const message = `this listener serves POST ${paths} with a JSON-RPC body, WebSockets, and GET /health`
      exchange.answer(this.refuse(new RelayError(errorKinds.noSuchPath, message), exchange))
    }
  }

  #post(exchange: HttpExchange): void {
    const guid = this.options.newGuid()
    try {
      const read = readBody(exchange.body)
      if (read.kind === 'batch' || !this.#single(exchange, read.span, guid))
        void this.#items(exchange, read, guid)
    } catch (cause) {
      exchange.answer(this.refusal(errorOf(cause), guid, exchange))
    }
  }

  #originOf(exchange: HttpExchange): CallOrigin {
    const { requestHeaders: allowed, internalPaths } = this.options.iface
    return {
      internalPath: internalPaths.has(exchange.path) ? exchange.path : '',
      directives: readDirectives(exchange.headers),
      requestHeaders: forwardHeaders(exchange.headers, allowed, ownHeaders),
      signal: exchange.signal,
      client: exchange,
    }
  }

  /** @returns false for a notification */
  #single(exchange: HttpExchange, span: Span, guid: string): boolean {
    const request = new JsonRpcRequest(exchange.body, span)
    const call = makeJsonRpcCall(request, this.#originOf(exchange), guid, this.options)
    refuseSubscription(request, call, this.options.subscriptions)
    if (!request.isNotification) void this.answer(exchange, call)
    return !request.isNotification
  }

  /** Answers a batch or a notification. Status and headers come from the router. */
  async #items(exchange: HttpExchange, read: RequestBody, guid: string): Promise<void> {
    const metadata = this.metadataOf(guid)
    const origin = this.#originOf(exchange)
    const { directives } = origin
    // Each item reports a directive error, and the response status applies to the whole request.
    const status = directives instanceof RelayError ? directives.kind.httpStatus : 200
    const context: ItemContext = {
      ...origin,
      relayed: (journal, reply) => metadata.add(journal, reply),
      subscribe: (request, call) => refuseSubscription(request, call, this.options.subscriptions),
    }
    try {
      const serving = { ...this.options, calls: this.calls }
      const body = await answerBody(exchange.body, read, guid, context, serving)
      if (exchange.gone) return await drop(body)
      if (body === null) void exchange.respond(204, metadata.toHeaders(null), null)
      else await exchange.respond(status, metadata.toHeaders('application/json'), body)
    } catch (cause) {
      // Only an item's stream can fail here.
      exchange.answer(this.refusal(brokenOff(cause), guid, exchange))
    }
  }
}

/**
 * Refuses subscribe calls, because HTTP cannot deliver events.
 * @param serving the subscriptions available over WebSocket
 * @throws RequestRefused if the call subscribes
 */
function refuseSubscription(
  request: JsonRpcRequest,
  { method }: JsonRpcCall,
  serving: SubscriptionServing | null,
): null {
  if (method.kind !== 'subscribe') return null
  if (!serving?.form.opens(method.name)) throw noSuchSubscription(request, method)
  const message = `${method.name} needs a WebSocket: connect to the same address with ws:// instead of http://`
  throw new RequestRefused(new RelayError(errorKinds.needsWebSocket, message), request)
}
