// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { Reply } from '../relay/reply.ts'
import type { HeaderList, Outgoing } from '../upstream/wire.ts'
import { answerCall, isBodiless } from './answer-call.ts'
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
  errorBytes(error: RelayError, guid: string): Uint8Array
  /** Of a refusal. */
  readonly leastStatus: number
}

const json = 'application/json'

/** Runs calls by path: an exchange is one call, and goes to the node under its own path and query. */
export class PathCalls {
  readonly #options: ListenerOptions
  readonly #form: PathForm
  readonly #calls: Calls

  constructor(options: ListenerOptions, form: PathForm) {
    this.#options = options
    this.#form = form
    this.#calls = new Calls(options)
  }

  refusal(error: RelayError, guid = this.#options.newGuid()): HttpAnswer {
    const { observer, version } = this.#options
    const { errorBytes, leastStatus } = this.#form
    observer.requestRefused(error, guid)
    return {
      status: Math.max(error.kind.httpStatus, leastStatus),
      headers: new ResponseMetadata(guid, version).toHeaders(json),
      body: errorBytes(error, guid),
    }
  }

  /** Never rejects. */
  async relay(exchange: HttpExchange): Promise<void> {
    const { newGuid, version, iface, clock } = this.#options
    const { contentTypeOf, errorBytes } = this.#form
    const guid = newGuid()
    try {
      const { verb, path, query, signal } = exchange
      const directives = readDirectives(exchange.headers)
      if (directives instanceof RelayError) throw directives
      const { asked, reader, headers, body } = this.#form.read(exchange)
      const call: Call = {
        guid,
        asked,
        request: { verb, path: query === '' ? path : `${path}?${query}`, headers, body },
        reader,
        directives,
        signal,
        journal: new Journal(clock.nowMs()),
      }
      const { responseHeaders } = iface
      const wording = {
        bodyOf: ({ incoming }: Reply) =>
          verb === 'HEAD' || isBodiless(incoming.status) ? null : incoming.body,
        contentTypeOf,
        errorType: json,
        errorBytes: (error: RelayError) => errorBytes(error, guid),
      }
      await answerCall(exchange, call, wording, { calls: this.#calls, version, responseHeaders })
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      const { status, headers, body } = this.refusal(error, guid)
      void exchange.respond(status, headers, body)
    }
  }
}
