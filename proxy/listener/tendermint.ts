// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { errorKinds, RelayError, type ErrorKind } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { Finding } from '../relay/reply.ts'
import type { Incoming } from '../upstream/wire.ts'
import { answerCall, type Wording } from './answer-call.ts'
import { Calls, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { contentTypeOf, forwardHeaders } from './http/forwarded-headers.ts'
import type { HttpAnswer, HttpExchange, HttpHandler } from './http/http-exchange.ts'
import { createHttpListener } from './http/http-listener.ts'
import type { ListenerOptions } from './listener-options.ts'
import { errorBytes } from './jsonrpc/jsonrpc-error.ts'
import { JsonRpcHandler } from './jsonrpc.ts'
import { jsonRpcSockets } from './session/jsonrpc-session.ts'
import { JsonRpcReplyReader, objectIn } from './jsonrpc/jsonrpc-reply-reader.ts'
import type { Listener } from './listener.ts'
import { ResponseMetadata } from './http/response-headers.ts'
import { RestReplyReader } from './rest/rest-reply-reader.ts'
import { uriParams } from './uri-params.ts'
import { wordlessRefusal } from './http/wordless-refusal.ts'

/**
 * A listener for Tendermint RPC: JSON-RPC by `POST /` and over WebSocket at `/websocket`, and
 * `GET /status?...` in URI style.
 */
export function createTendermintListener(options: ListenerOptions): Listener {
  const sockets = jsonRpcSockets(options, new Calls(options), ['/websocket'])
  return createHttpListener(options, new TendermintHandler(options), sockets)
}

const json = 'application/json'
/** Under which nodes answer in URI style. */
const uriId = Buffer.from('-1')

class TendermintHandler implements HttpHandler {
  readonly #options: ListenerOptions
  readonly #jsonRpc: JsonRpcHandler
  readonly #calls: Calls

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#jsonRpc = new JsonRpcHandler(options)
    this.#calls = new Calls(options)
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    // `/health` is the router's own on every listener; the node's is called by POST.
    const isUri = (verb === 'GET' || verb === 'HEAD') && path !== '/health'
    if (isUri && path === '/') this.#refuseIndex(exchange)
    else if (isUri) void this.#relay(exchange)
    else this.#jsonRpc.serve(exchange)
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    return this.#jsonRpc.refuse(kind, message)
  }

  /** There nodes have a page of links to themselves, by the name that they were asked by. */
  #refuseIndex(exchange: HttpExchange): void {
    const message =
      'this listener serves GET /status and so on, POST / with a JSON-RPC body, /websocket, and GET /health'
    const { status, headers, body } = this.refuse(errorKinds.noSuchPath, message)
    void exchange.respond(status, headers, exchange.verb === 'HEAD' ? null : body)
  }

  /** Never rejects. */
  async #relay(exchange: HttpExchange): Promise<void> {
    const { newGuid, version, iface, observer } = this.#options
    const guid = newGuid()
    try {
      const call = this.#makeCall(exchange, guid)
      const { responseHeaders } = iface
      const wording = wordingFor(exchange.verb, guid)
      await answerCall(exchange, call, wording, { calls: this.#calls, version, responseHeaders })
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      observer.requestRefused(error, guid)
      const headers = new ResponseMetadata(guid, version).toHeaders(json)
      const { kind, message } = error
      void exchange.respond(kind.httpStatus, headers, errorBytes(kind, message, uriId, guid))
    }
  }

  /** @throws RelayError when the directives make no sense */
  #makeCall({ verb, path, query, headers, signal }: HttpExchange, guid: string): Call {
    const { iface, clock } = this.#options
    const directives = readDirectives(headers)
    if (directives instanceof RelayError) throw directives
    const method = path.slice(1)
    const asked = iface.classify({
      apiInterface: 'tendermintrpc',
      method,
      params: uriParams(query),
    })
    return {
      guid,
      asked,
      request: {
        verb,
        path: query === '' ? path : `${path}?${query}`,
        headers: forwardHeaders(headers, iface.requestHeaders, ['accept', '*/*']),
        body: null,
      },
      // What no spec names may be anything.
      reader:
        asked.known && verb === 'GET' ? new UriReplyReader(null, uriId) : new RestReplyReader(verb),
      directives,
      signal,
      journal: new Journal(clock.nowMs()),
    }
  }
}

/**
 * In URI style an answer may have any id, and some nodes leave the envelope out. The path is the
 * client's own, so a page that refuses it says nothing against the node.
 */
class UriReplyReader extends JsonRpcReplyReader {
  override read(incoming: Incoming, wantsResult = false): Finding {
    const finding = super.read(incoming, wantsResult)
    if (finding.kind !== 'malformed') return finding
    return wordlessRefusal(incoming.status) ?? bareResult(incoming) ?? finding
  }
}

/** An object that has nothing of JSON-RPC is the result itself. */
function bareResult({ status, body }: Incoming): Finding | null {
  if (status >= 300 || !(body instanceof Uint8Array)) return null
  const value = objectIn(body)
  if (value === null || ['result', 'error', 'jsonrpc'].some((name) => Object.hasOwn(value, name)))
    return null
  return { kind: 'result', value: { start: 0, end: body.length }, parsed: value }
}

function wordingFor(verb: string, guid: string): Wording {
  return {
    bodyOf: ({ incoming }) => (verb === 'HEAD' ? null : incoming.body),
    contentTypeOf,
    errorType: json,
    errorBytes: ({ kind, message }) => errorBytes(kind, message, uriId, guid),
  }
}
