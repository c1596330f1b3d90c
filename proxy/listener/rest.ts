// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RelayError } from '../relay/errors.ts'
import { header, type HeaderList } from '../upstream/wire.ts'
import { forwardHeaders } from './headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { createHttpListener } from './http/http-server.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { PathCalls } from './path-calls.ts'
import { RestReplyReader } from './rest/rest-reply-reader.ts'

/** A listener that relays whatever path and verb its clients send, and answers `GET /health` itself. */
export function createRestListener(options: ListenerOptions): Listener {
  return createHttpListener(options, new RestHandler(options))
}

/** What a body is, and what is wanted, reaches every node. */
const alwaysForwarded = ['content-type', 'accept']
/**
 * Not TRACE, which would tell the client what the router added, keys among it; nor others, of which
 * nobody knows what a node does.
 */
const relayedVerbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

class RestHandler extends PathCalls {
  // What JSON-RPC tells in its body, REST tells by the status.
  protected override readonly leastStatus = 400
  readonly #requestHeaders: ReadonlySet<string>

  constructor(options: ListenerOptions) {
    super(options)
    this.#requestHeaders = new Set([...alwaysForwarded, ...options.iface.requestHeaders])
  }

  protected override take(exchange: HttpExchange): void {
    if (relayedVerbs.includes(exchange.verb)) super.take(exchange)
    else this.refuseVerb(exchange, 'listener', relayedVerbs.join(', '))
  }

  protected read({ verb, path, query, headers, body }: HttpExchange) {
    const asked = this.options.iface.classify({
      apiInterface: 'rest',
      verb,
      path,
      query,
      header: (name) => header(headers, name),
    })
    const accept = header(headers, 'accept') ?? ''
    return {
      asked,
      headers: forwardHeaders(headers, this.#requestHeaders, []),
      body: body.length === 0 ? null : body,
      reader: new RestReplyReader(verb, asked.answersJson === true, accept),
    }
  }

  protected override contentTypeOf(headers: HeaderList): string | null {
    return header(headers, 'content-type')
  }

  /** What went wrong, in a form that no node uses for its own. */
  protected errorBytes({ kind, message }: RelayError, guid: string): Uint8Array {
    return Buffer.from(JSON.stringify({ error: { reason: kind.reason, message, guid } }))
  }
}
