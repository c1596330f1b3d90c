// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Question } from '../chain/types.ts'
import { errorKinds, type ErrorKind } from '../relay/errors.ts'
import { header } from '../upstream/wire.ts'
import { forwardHeaders } from './http/forwarded-headers.ts'
import {
  answerHealth,
  type HttpAnswer,
  type HttpExchange,
  type HttpHandler,
} from './http/http-exchange.ts'
import { createHttpListener } from './http/http-server.ts'
import type { Listener, ListenerOptions } from './listener.ts'
import { PathCalls, type PathForm } from './path-calls.ts'
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

class RestHandler implements HttpHandler {
  readonly #options: ListenerOptions
  readonly #calls: PathCalls

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#calls = new PathCalls(options, restForm(options))
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    const { health, version } = this.#options
    const isOwn = path === '/health' && (verb === 'GET' || verb === 'HEAD')
    if (isOwn) answerHealth(exchange, health(), version)
    else if (!relayedVerbs.includes(verb)) this.#refuseVerb(exchange)
    else this.#calls.relay(exchange)
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    return this.#calls.refuse(kind, message)
  }

  #refuseVerb(exchange: HttpExchange): void {
    const allowed = relayedVerbs.join(', ')
    const message = `this listener takes ${allowed} only`
    const answer = this.refuse(errorKinds.verbNotAllowed, message)
    exchange.answer({ ...answer, headers: [...answer.headers, 'Allow', allowed] })
  }
}

function restForm({ iface }: ListenerOptions): PathForm {
  const requestHeaders = new Set([...alwaysForwarded, ...iface.requestHeaders])
  return {
    read({ verb, path, query, headers, body }) {
      const question: Question = {
        apiInterface: 'rest',
        verb,
        path,
        query,
        header: (name) => header(headers, name),
      }
      const asked = iface.classify(question)
      return {
        asked,
        headers: forwardHeaders(headers, requestHeaders, []),
        body: body.length === 0 ? null : body,
        reader: new RestReplyReader(
          verb,
          asked.answersJson === true,
          header(headers, 'accept') ?? '',
        ),
      }
    },
    contentTypeOf: (headers) => header(headers, 'content-type'),
    // What went wrong, in a form that no node uses for its own.
    errorBytes: ({ kind, message }, { guid }) =>
      Buffer.from(JSON.stringify({ error: { reason: kind.reason, message, guid } })),
    // What JSON-RPC tells in its body, REST tells by the status.
    leastStatus: 400,
  }
}
