// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { header, type Body, type HeaderList } from '../upstream/wire.ts'
import { brokenOff, type Calls } from './calls.ts'
import { forwardHeaders } from './http/forwarded-headers.ts'
import type { HttpExchange } from './http/http-exchange.ts'
import { ResponseMetadata } from './http/response-headers.ts'

/** Whatever the spec lists, a client that is told to wait is told how long (RFC 9110, 10.2.3). */
const retryAfter: ReadonlySet<string> = new Set(['retry-after'])

/** How the calls of one interface are answered over HTTP. */
export interface Answering<C extends Call = Call> {
  readonly calls: Calls
  readonly version: string
  /** Upstream headers that reach the client, lower case. */
  readonly responseHeaders: ReadonlySet<string>
  /** The body for the client; null where there is none. */
  bodyOf(call: C, reply: Reply): Body | null
  /** Null for an answer without one. */
  contentTypeOf(headers: HeaderList): string | null
  /** JSON. */
  errorBytes(error: RelayError, call: C): Uint8Array
}

/**
 * Runs the one call of an exchange and answers it: with the upstream's bytes as they are, or with an
 * error of the router's own. Says nothing where the client has left. Never rejects.
 */
export async function answerCall<C extends Call>(
  exchange: HttpExchange,
  call: C,
  answering: Answering<C>,
): Promise<void> {
  const { calls, version, responseHeaders } = answering
  const outcome = await calls.run(call)
  if (outcome instanceof CallAborted) return calls.ended(call, outcome)
  if (outcome instanceof RelayError) return fail(exchange, call, outcome, answering)
  try {
    const metadata = new ResponseMetadata(call.guid, version)
    metadata.add(call.journal, outcome)
    const { status, headers } = outcome.incoming
    const own = metadata.toHeaders(answering.contentTypeOf(headers))
    const isToWait = status === 429 || status === 503
    const allowed = isToWait ? responseHeaders.union(retryAfter) : responseHeaders
    const all = forwardHeaders(headers, allowed, own)
    const length = exchange.verb === 'HEAD' ? header(headers, 'content-length') : null
    const told = length === null ? all : [...all, 'Content-Length', length]
    const body = answering.bodyOf(call, outcome)
    const written = exchange.respond(statusFor(status, body), told, body)
    if (written) await written
  } catch (cause) {
    return fail(exchange, call, brokenOff(cause), answering)
  }
  calls.ended(call, outcome)
}

/** Answers with an error of the router's own; does nothing where an answer has begun already. */
function fail<C extends Call>(
  exchange: HttpExchange,
  call: C,
  error: RelayError,
  answering: Answering<C>,
): void {
  const metadata = new ResponseMetadata(call.guid, answering.version)
  metadata.add(call.journal, null)
  answering.calls.ended(call, error)
  const headers = metadata.toHeaders('application/json')
  if (error.retryAfterMs !== null)
    headers.push('Retry-After', String(Math.ceil(error.retryAfterMs / 1_000)))
  const body = answering.errorBytes(error, call)
  exchange.answer({ status: error.kind.httpStatus, headers, body })
}

/** An upstream's status, unless it is one that cannot be told. */
function statusFor(status: number, body: Body | null): number {
  const isOdd = status < 200 || status > 599 || (body !== null && isBodiless(status))
  return isOdd ? 502 : status
}

/** Statuses that come without a body (RFC 9110, 6.4.1). */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
