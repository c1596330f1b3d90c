// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { ErrorKind } from '../../relay/errors.ts'
import type { Body, HeaderList } from '../../upstream/wire.ts'

/** One HTTP request of a client and the way to answer it, in terms of no HTTP library. */
export interface HttpExchange {
  readonly verb: string
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** What stands behind the `?`, as sent; empty when there is none. */
  readonly query: string
  /** As on the wire. */
  readonly headers: HeaderList
  /** The whole body, decoded from its content coding; empty when there is none. */
  readonly body: Uint8Array
  /** Aborted when the client went away before it was answered. */
  readonly signal: CancelSignal
  /** The client went away before it was answered. Cheaper to ask than `signal`. */
  readonly gone: boolean
  /**
   * Answers, once. Bytes are on their way when this returns; a stream when the promise settles.
   * `headers` name neither lengths nor codings: the server knows those, save for the length that
   * the answer to a HEAD would have.
   * @throws the stream's own error, after the client's connection was cut; when nothing of the
   *   stream had come, the connection is well, and another answer may be given
   */
  respond(status: number, headers: HeaderList, body: Body | null): Promise<void> | undefined
}

/** An answer that the server gives on its own. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
}

/** What is served: it puts requests into calls, and refusals into its interface's own words. */
export interface HttpHandler {
  /** Answers the exchange, now or later. Must not throw. */
  serve(exchange: HttpExchange): void
  /** The answer to what never became an exchange: too large, not HTTP, too slow. */
  refuse(kind: ErrorKind, message: string): HttpAnswer
}

export interface HealthAnswer {
  readonly status: number
  readonly text: string
}

/** What `GET /health` of a listener says: whether it can serve, for load balancers. */
export function healthAnswer(isHealthy: boolean): HealthAnswer {
  return isHealthy ? { status: 200, text: 'Health status OK' } : { status: 503, text: 'Unhealthy' }
}

export function answerHealth(exchange: HttpExchange, isHealthy: boolean, version: string): void {
  const { status, text } = healthAnswer(isHealthy)
  const headers = ['Content-Type', 'text/plain', 'Router-Version', version]
  void exchange.respond(status, headers, Buffer.from(text))
}
