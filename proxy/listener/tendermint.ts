// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ambiguous } from '../chain/compile/method.ts'
import { isAmbiguousPath, segmentsOf } from '../chain/compile/path-tree.ts'
import { jsonOfQuery } from '../json/place.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { ReplyContent } from '../relay/reply.ts'
import type { Incoming } from '../upstream/wire.ts'
import { forwardHeaders } from './headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { JsonRpcHandler, listenForJsonRpc } from './jsonrpc.ts'
import { errorBytes } from './jsonrpc/jsonrpc-request.ts'
import { JsonRpcReplyReader, objectIn } from './jsonrpc/jsonrpc-reply-reader.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { PathCalls } from './rest.ts'
import { RestReplyReader, refusalByStatus } from './rest/rest-reply-reader.ts'

/**
 * Listener for Tendermint RPC: JSON-RPC by `POST /` and WebSocket at `/websocket`, and `GET
 * /status?...` in URI style.
 */
export function createTendermintListener(options: ListenerOptions): Listener {
  return listenForJsonRpc(options, new TendermintHandler(options), ['/websocket'])
}

/** Id of nodes' answers in URI style. */
const uriId = Buffer.from('-1')

const noIndex =
  'this listener serves GET /status and so on, POST / with a JSON-RPC body, /websocket, and GET /health'

class TendermintHandler extends JsonRpcHandler {
  readonly #uri = new UriCalls(this.options)

  protected override handle(exchange: HttpExchange): void {
    const { verb, path } = exchange
    // Every listener reserves `/health` for the router; call the node's by POST.
    const isUri = (verb === 'GET' || verb === 'HEAD') && path !== '/health'
    // At `/`, nodes list links that reveal their own address.
    if (isUri && nameIn(path) === '')
      exchange.answer(this.refuse(new RelayError(errorKinds.noSuchPath, noIndex), exchange))
    else if (isUri) this.#uri.serve(exchange)
    else super.handle(exchange)
  }
}

/** Calls in URI style. */
class UriCalls extends PathCalls {
  protected read({ verb, path, query, headers }: HttpExchange) {
    const { iface } = this.options
    const params = jsonOfQuery(query, unquoted)
    const found = iface.classify({ apiInterface: 'tendermintrpc', method: nameIn(path), params })
    const method = isAmbiguousPath(path) ? ambiguous(found) : found
    // A path that is in no spec may return anything.
    const isNamed = method.known && verb === 'GET'
    return {
      method,
      headers: forwardHeaders(headers, iface.requestHeaders, ['accept', '*/*']),
      body: null,
      reader: isNamed ? new UriReplyReader(null, uriId) : new RestReplyReader(verb),
    }
  }

  protected errorBytes(error: RelayError, guid: string): Uint8Array {
    return errorBytes(error, guid, uriId)
  }
}

/** Method name in a path, as nodes read it: `/%62lock`, `//block`, `/%2Fblock` mean `block`. */
function nameIn(path: string): string {
  return segmentsOf(path.replaceAll(/%2f/gi, '/')).join('/')
}

/** Unquotes `height="5"` to `5`. The node parses other values, so they stay unchanged. */
function unquoted(text: string): string {
  return /^"(.*)"$/s.exec(text)?.[1] ?? text
}

/**
 * In URI style, an answer may have any id, and some nodes omit the envelope. The path comes from
 * the client, so a page that rejects it is not a node failure.
 */
class UriReplyReader extends JsonRpcReplyReader {
  override read(incoming: Incoming, wantsResult = false): ReplyContent {
    const content = super.read(incoming, wantsResult)
    if (content.kind !== 'malformed') return content
    return refusalByStatus(incoming.status) ?? bareResult(incoming) ?? content
  }
}

/** Treats an object without JSON-RPC members as the result itself. */
function bareResult({ status, body }: Incoming): ReplyContent | null {
  if (status >= 300 || !(body instanceof Uint8Array)) return null
  const value = objectIn(body)
  if (value === null || ['result', 'error', 'jsonrpc'].some((name) => Object.hasOwn(value, name)))
    return null
  return { kind: 'result', inForm: true, parsed: value }
}
