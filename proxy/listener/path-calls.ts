// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { RelayError, type ErrorKind } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { HeaderList, Outgoing } from '../upstream/wire.ts'
import { answerCall, isBodiless, type Answering } from './answer-call.ts'
import { Calls, internal } from './calls.ts'
import { readDirectives } from './directives.ts'
import type { HttpAnswer, HttpExchange } from './http/http-exchange.ts'
import { ResponseMetadata } from './http/response-headers.ts'
import type { ListenerOptions } from './listener.ts'

/** An interface whose calls are told by their paths. */
export interface PathForm {
  read(exchange: HttpExchange): Pick<Call, 'asked' | 'reader'> & Pick<Outgoing, 'headers' | 'body'>
  /** Null for an answer without one. */
  contentTypeOf(headers: HeaderList): string | null
  errorBytes(error: RelayError, call: Pick<Call, 'guid'>): Uint8Array
  /** Of a refusal. */
  readonly leastStatus: number
}

/** Runs calls by path: an exchange is one call, and goes to the node under its own path and query. */
export class PathCalls {
  readonly #options: ListenerOptions
  readonly #form: PathForm
  readonly #answering: Answering

  constructor(options: ListenerOptions, form: PathForm) {
    const { version, iface } = options
    this.#options = options
    this.#form = form
    this.#answering = {
      ...form,
      calls: new Calls(options),
      version,
      responseHeaders: iface.responseHeaders,
      bodyOf: ({ request }, { incoming: { status, body } }) =>
        request.verb === 'HEAD' || isBodiless(status) ? null : body,
    }
  }

  refuse(kind: ErrorKind, message: string): HttpAnswer {
    return this.#refusal(new RelayError(kind, message), this.#options.newGuid())
  }

  #refusal(error: RelayError, guid: string): HttpAnswer {
    const { observer, version } = this.#options
    const { errorBytes, leastStatus } = this.#form
    observer.requestRefused(error, guid)
    return {
      status: Math.max(error.kind.httpStatus, leastStatus),
      headers: new ResponseMetadata(guid, version).toHeaders('application/json'),
      body: errorBytes(error, { guid }),
    }
  }

  /** Never throws. */
  relay(exchange: HttpExchange): void {
    const guid = this.#options.newGuid()
    let call: Call
    try {
      call = this.#callOf(exchange, guid)
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      return exchange.answer(this.#refusal(error, guid))
    }
    void answerCall(exchange, call, this.#answering)
  }

  /** @throws RelayError when the directives make no sense */
  #callOf(exchange: HttpExchange, guid: string): Call {
    const { verb, path, query, signal } = exchange
    const directives = readDirectives(exchange.headers)
    if (directives instanceof RelayError) throw directives
    const { asked, reader, headers, body } = this.#form.read(exchange)
    return {
      guid,
      asked,
      request: { verb, path: query === '' ? path : `${path}?${query}`, headers, body },
      reader,
      directives,
      signal,
      journal: new Journal(this.#options.clock.nowMs()),
    }
  }
}
