// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Question } from '../chain/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds, type ErrorKind } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import { header, type HeaderList } from '../upstream/wire.ts'
import { answerCall, isBodiless, type Wording } from './answer-call.ts'
import { Calls, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import { forwardHeaders } from './http/forwarded-headers.ts'
import type { HttpAnswer, HttpExchange, HttpHandler } from './http/http-exchange.ts'
import { createHttpListener } from './http/http-listener.ts'
import type { ListenerOptions } from './listener-options.ts'
import type { Listener } from './listener.ts'
import { answerHealth } from './http/listener-health.ts'
import { ResponseMetadata } from './http/response-headers.ts'
import { otherTypes } from './rest/media-type.ts'
import { RestReplyReader } from './rest/rest-reply-reader.ts'

/** A listener that relays whatever path and verb its clients send, and answers `GET /health` itself. */
export function createRestListener(options: ListenerOptions): Listener {
  return createHttpListener(options, new RestHandler(options))
}

const json = 'application/json'
/** What a body is, and what is wanted, reaches every node. */
const alwaysForwarded = ['content-type', 'accept']
/**
 * Not TRACE, which would tell the client what the router added, keys among it; nor others, of which
 * nobody knows what a node does.
 */
const relayedVerbs = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

class RestHandler implements HttpHandler {
  readonly takesUploads = true
  readonly #options: ListenerOptions
  readonly #calls: Calls
  readonly #requestHeaders: ReadonlySet<string>

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#calls = new Calls(options)
    this.#requestHeaders = new Set([...alwaysForwarded, ...options.iface.requestHeaders])
  }

  serve(exchange: HttpExchange): void {
    const { verb, path } = exchange
    const { health, version } = this.#options
    const isOwn = path === '/health' && (verb === 'GET' || verb === 'HEAD')
    if (isOwn) answerHealth(exchange, health(), version)
    else if (!relayedVerbs.includes(verb)) this.#refuseVerb(exchange)
    else void this.#relay(exchange)
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    return this.#refusal(new RelayError(kind, message), this.#options.newGuid())
  }

  #refuseVerb(exchange: HttpExchange): void {
    const allowed = relayedVerbs.join(', ')
    const { status, headers, body } = this.refuse(
      errorKinds.verbNotAllowed,
      `this listener takes ${allowed} only`,
    )
    void exchange.respond(status, [...headers, 'Allow', allowed], body)
  }

  #refusal(error: RelayError, guid: string): HttpAnswer {
    this.#options.observer.requestRefused(error, guid)
    const headers = new ResponseMetadata(guid, this.#options.version).toHeaders(json)
    // What JSON-RPC tells in its body, REST tells by the status.
    const status = Math.max(error.kind.httpStatus, 400)
    return { status, headers, body: errorBytes(error, guid) }
  }

  /** Never rejects. */
  async #relay(exchange: HttpExchange): Promise<void> {
    const guid = this.#options.newGuid()
    try {
      const call = this.#makeCall(exchange, guid)
      const { version, iface } = this.#options
      const { responseHeaders } = iface
      const wording = wordingFor(exchange.verb, guid)
      await answerCall(exchange, call, wording, { calls: this.#calls, version, responseHeaders })
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      const { status, headers, body } = this.#refusal(error, guid)
      void exchange.respond(status, headers, body)
    }
  }

  /** @throws RelayError when the directives make no sense */
  #makeCall(exchange: HttpExchange, guid: string): Call {
    const { verb, path, query, headers, body, upload, signal } = exchange
    const { iface, clock } = this.#options
    const directives = readDirectives(headers)
    if (directives instanceof RelayError) throw directives
    const question: Question = {
      apiInterface: 'rest',
      verb,
      path,
      query,
      header: (name) => header(headers, name),
    }
    const asked = iface.classify(question)
    const forwarded = forwardHeaders(headers, this.#requestHeaders, [])
    const asksForPart = header(forwarded, 'range') !== null
    const expected = asked.answersJson === true ? { orTypes: otherTypes(headers) } : 'anything'
    return {
      guid,
      asked,
      request: {
        verb,
        path: query === '' ? path : `${path}?${query}`,
        headers: forwarded,
        body: upload ?? (body.length === 0 ? null : body),
      },
      reader: new RestReplyReader(verb, expected, asksForPart),
      directives,
      signal,
      journal: new Journal(clock.nowMs()),
    }
  }
}

function wordingFor(verb: string, guid: string): Wording {
  return {
    bodyOf: ({ incoming }) =>
      verb === 'HEAD' || isBodiless(incoming.status) ? null : incoming.body,
    contentTypeOf: (headers: HeaderList) => header(headers, 'content-type'),
    errorType: json,
    errorBytes: (error) => errorBytes(error, guid),
  }
}

/** An error of the router's own: what went wrong, in a form that no node uses for its own. */
function errorBytes({ kind, message }: RelayError, guid: string): Uint8Array {
  return Buffer.from(JSON.stringify({ error: { reason: kind.reason, message, guid } }))
}
