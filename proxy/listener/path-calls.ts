// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { RelayError, type ErrorKind } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { Reply } from '../relay/reply.ts'
import type { Body, HeaderList, Outgoing } from '../upstream/wire.ts'
import { answerCall, isBodiless, type Answering } from './answer-call.ts'
import { Calls, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import type { HttpAnswer, HttpExchange } from './http/http-exchange.ts'
import { ResponseMetadata } from './http/response-headers.ts'
import type { ListenerOptions } from './listener.ts'

/**
 * An interface whose calls are told by their paths: an exchange is one call, and goes to the node under
 * its own path and query.
 */
export abstract class PathCalls implements Answering {
  readonly calls: Calls
  readonly version: string
  readonly responseHeaders: ReadonlySet<string>
  protected readonly options: ListenerOptions
  /** Of a refusal. */
  protected readonly leastStatus: number = 200

  constructor(options: ListenerOptions) {
    this.calls = new Calls(options)
    this.version = options.version
    this.responseHeaders = options.iface.responseHeaders
    this.options = options
  }

  protected abstract read(
    exchange: HttpExchange,
  ): Pick<Call, 'asked' | 'reader'> & Pick<Outgoing, 'headers' | 'body'>
  abstract contentTypeOf(headers: HeaderList): string | null
  abstract errorBytes(error: RelayError, call: Pick<Call, 'guid'>): Uint8Array

  bodyOf({ request }: Call, { incoming: { status, body } }: Reply): Body | null {
    return request.verb === 'HEAD' || isBodiless(status) ? null : body
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    return this.#refusal(new RelayError(kind, message), this.options.newGuid())
  }

  #refusal(error: RelayError, guid: string): HttpAnswer {
    this.options.observer.requestRefused(error, guid)
    return {
      status: Math.max(error.kind.httpStatus, this.leastStatus),
      headers: new ResponseMetadata(guid, this.version).toHeaders('application/json'),
      body: this.errorBytes(error, { guid }),
    }
  }

  /** Never throws. */
  relay(exchange: HttpExchange): void {
    const guid = this.options.newGuid()
    let call: Call
    try {
      call = this.#callOf(exchange, guid)
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      return exchange.answer(this.#refusal(error, guid))
    }
    void answerCall(exchange, call, this)
  }

  /** @throws RelayError when the directives make no sense */
  #callOf(exchange: HttpExchange, guid: string): Call {
    const { verb, path, query, signal } = exchange
    const directives = readDirectives(exchange.headers)
    if (directives instanceof RelayError) throw directives
    const { asked, reader, headers, body } = this.read(exchange)
    return {
      guid,
      asked,
      request: { verb, path: query === '' ? path : `${path}?${query}`, headers, body },
      reader,
      directives,
      signal,
      journal: new Journal(this.options.clock.nowMs()),
    }
  }
}
