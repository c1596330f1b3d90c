// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import { Journal } from '../relay/journal.ts'
import type { Reply } from '../relay/reply.ts'
import type { Body, Outgoing } from '../upstream/wire.ts'
import { internal } from './calls.ts'
import { readDirectives } from './headers.ts'
import { HttpCalls, isBodiless } from './http-calls.ts'
import type { HttpExchange } from './http/http-exchange.ts'

/**
 * An interface whose calls are told by their paths: an exchange is one call, and goes to the node under
 * its own path and query.
 */
export abstract class PathCalls extends HttpCalls {
  protected abstract read(
    exchange: HttpExchange,
  ): Pick<Call, 'asked' | 'reader'> & Pick<Outgoing, 'headers' | 'body'>

  protected bodyOf({ request }: Call, { incoming: { status, body } }: Reply): Body | null {
    return request.verb === 'HEAD' || isBodiless(status) ? null : body
  }

  protected take(exchange: HttpExchange): void {
    const guid = this.options.newGuid()
    let call: Call
    try {
      call = this.#callOf(exchange, guid)
    } catch (cause) {
      const error = cause instanceof RelayError ? cause : internal(cause)
      return exchange.answer(this.refusal(error, guid))
    }
    void this.answer(exchange, call)
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
