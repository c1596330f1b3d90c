// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Call, Journal } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { header, type Body, type HeaderList, type Outgoing } from '../upstream/wire.ts'
import { HttpCalls, errorOf, isBodiless } from './calls.ts'
import { readDirectives } from './directives.ts'
import { forwardHeaders } from './headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { HttpServer } from './http/http-server.ts'
import { askedType, listOf } from './request-head.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { RestReplyReader } from './rest/rest-reply-reader.ts'

/** Listener that relays any path and verb, and answers `GET /health` itself. */
export function createRestListener(options: ListenerOptions): Listener {
  return new HttpServer({ ...options, handler: new RestHandler(options) })
}

/** Content type and accepted types reach every node. */
const alwaysForwarded = ['content-type', 'accept']
/**
 * Excludes TRACE, which would show the client what the router adds, such as keys. Excludes verbs
 * whose effect on a node is unknown.
 */
const relayedVerbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * An interface that identifies calls by path: each exchange is one call, and the node receives its
 * path and query.
 */
export abstract class PathCalls extends HttpCalls {
  protected abstract read(
    exchange: HttpExchange,
  ): Pick<Call, 'method' | 'reader'> & Pick<Outgoing, 'headers' | 'body'>

  protected bodyOf({ request }: Call, { incoming: { status, body } }: Reply): Body | null {
    return request.verb === 'HEAD' || isBodiless(status) ? null : body
  }

  protected handle(exchange: HttpExchange): void {
    const guid = this.options.newGuid()
    let call: Call
    try {
      call = this.#callOf(exchange, guid)
    } catch (cause) {
      return exchange.answer(this.refusal(errorOf(cause), guid, exchange))
    }
    void this.answer(exchange, call)
  }

  /** @throws RelayError if the directives are invalid */
  #callOf(exchange: HttpExchange, guid: string): Call {
    const { verb, path, query, signal } = exchange
    const directives = readDirectives(exchange.headers)
    if (directives instanceof RelayError) throw directives
    const { method, reader, headers, body } = this.read(exchange)
    return {
      guid,
      method,
      request: { verb, path: query === '' ? path : `${path}?${query}`, headers, body },
      reader,
      directives,
      signal,
      journal: new Journal(this.options.clock.nowMs()),
      client: exchange,
    }
  }
}

class RestHandler extends PathCalls {
  // Nodes accept signed transactions in content types of their own.
  protected override readonly typesOfPages = askedType
  readonly #requestHeaders: ReadonlySet<string>

  constructor(options: ListenerOptions) {
    super(options)
    this.#requestHeaders = new Set([...alwaysForwarded, ...options.iface.requestHeaders])
  }

  protected override handle(exchange: HttpExchange): void {
    if (relayedVerbs.includes(exchange.verb)) super.handle(exchange)
    else this.refuseVerb(exchange, 'listener', relayedVerbs.join(', '))
  }

  protected read({ verb, path, query, headers, body }: HttpExchange) {
    const method = this.options.iface.classify({
      apiInterface: 'rest',
      verb,
      path,
      query,
      header: (name) => listOf(headers, name),
    })
    const accept = header(headers, 'accept') ?? ''
    return {
      method,
      headers: forwardHeaders(headers, this.#requestHeaders, []),
      body: body.length === 0 ? null : body,
      reader: new RestReplyReader(verb, method.answersJson === true, accept),
    }
  }

  protected override contentTypeOf(headers: HeaderList): string | null {
    return header(headers, 'content-type')
  }

  // JSON-RPC reports errors in the body, REST in the status.
  protected override statusOf({ kind }: RelayError): number {
    return kind.restStatus
  }

  /** Renders the error in a form that no node uses. */
  protected errorBytes({ kind, message }: RelayError, guid: string): Uint8Array {
    return Buffer.from(JSON.stringify({ error: { reason: kind.reason, message, guid } }))
  }
}
