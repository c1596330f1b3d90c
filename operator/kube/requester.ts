// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { text } from 'node:stream/consumers'
import type { ReadAnswer } from './answers.ts'
import { type Clock, deadline, type Deadline, sleep } from './clock.ts'
import { ApiError, KubeError, MalformedAnswerError, TimeoutError, type Status } from './errors.ts'
import type { Resource } from './object.ts'
import type { KubeObserver, Verb } from './observer.ts'
import type { Transport, WireAnswer, WireRequest } from './transport.ts'

export type Query = Readonly<Record<string, string | number | boolean>>

export interface ApiRequest {
  readonly resource: Resource
  readonly verb: Verb
  readonly method: WireRequest['method']
  readonly path: string
  readonly query?: Query
  /** Accept header, unless the answer is the whole object. */
  readonly accept?: string | undefined
  readonly contentType?: string
  readonly body?: unknown
  /** Timeout of the whole answer; in a stream, of its head and of each silence. */
  readonly timeoutMs: number
}

export interface RequesterOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly limit: { readonly perSecond: number; readonly burst: number }
  readonly observer: KubeObserver
}

/** Limits the rate and time of requests, and turns refusals into errors. */
export class Requester {
  readonly #options: RequesterOptions
  readonly #bucket: TokenBucket

  constructor(options: RequesterOptions) {
    this.#options = options
    this.#bucket = new TokenBucket(options.limit, options.clock)
  }

  /** Sends the request, and returns the result of `read` on the answer's JSON. */
  async send<T>(request: ApiRequest, signal: AbortSignal, read: ReadAnswer<T>): Promise<T> {
    await this.#throttle(request, signal)
    using limit = this.#deadline(request, signal)
    const answer = await this.#exchange(request, limit.signal)
    return read(nameOf(request), parseJson(request, await text(answer.body)))
  }

  /** Yields the chunks of a streamed answer. */
  async *stream(request: ApiRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    using limit = this.#deadline(request, signal)
    await this.#throttle(request, limit.signal)
    limit.renew()
    const answer = await this.#exchange(request, limit.signal)
    for await (const piece of answer.body) {
      limit.renew()
      yield piece
    }
  }

  #deadline(request: ApiRequest, signal: AbortSignal): Deadline {
    const { timeoutMs } = request
    return deadline(this.#options.clock, timeoutMs, signal, () => {
      return new TimeoutError(`${nameOf(request)}: nothing came for ${timeoutMs / 1000} s`)
    })
  }

  /** Waits for the client's rate limit. Callers obey `Retry-After`, which the error carries. */
  async #throttle({ resource, verb }: ApiRequest, signal: AbortSignal): Promise<void> {
    const { clock, observer } = this.#options
    const waitMs = this.#bucket.reserve()
    if (waitMs === 0) return
    observer.throttled?.(resource.plural, verb, waitMs, 'client')
    await sleep(clock, waitMs, signal)
  }

  async #exchange(request: ApiRequest, signal: AbortSignal): Promise<WireAnswer> {
    const { transport, clock, observer } = this.#options
    const startedMs = clock.nowMs()
    let outcome: number | string = 'aborted'
    try {
      const answer = await transport.send(toWire(request), signal)
      outcome = answer.status
      if (answer.status >= 300) throw await readRefusal(request, answer)
      return answer
    } catch (error) {
      if (error instanceof KubeError && !(error instanceof ApiError)) outcome = error.code
      if (error instanceof ApiError && error.retryAfterMs !== null)
        observer.throttled?.(request.resource.plural, request.verb, error.retryAfterMs, 'server')
      throw error
    } finally {
      observer.requested?.(
        request.resource.plural,
        request.verb,
        outcome,
        clock.nowMs() - startedMs,
      )
    }
  }
}

function nameOf({ method, path }: ApiRequest): string {
  return `${method} ${path}`
}

function toWire({ method, path, query = {}, body, ...request }: ApiRequest): WireRequest {
  const { accept = 'application/json', contentType = 'application/json' } = request
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)])
  const search = new URLSearchParams(pairs).toString()
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: {
      accept,
      ...(body !== undefined && { 'content-type': contentType }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  }
}

function parseJson(request: ApiRequest, body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new MalformedAnswerError(`${nameOf(request)}: the answer is not JSON`, { cause })
  }
}

async function readRefusal(request: ApiRequest, answer: WireAnswer): Promise<ApiError> {
  const words = await text(answer.body)
  const seconds = Number(answer.header('retry-after') ?? NaN)
  const retryAfterMs = Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : null
  return new ApiError(nameOf(request), answer.status, statusIn(words), retryAfterMs)
}

/** Parses a refusal. Anything but a Status comes from a proxy; its first text is the message. */
function statusIn(body: string): Status {
  try {
    const parsed = JSON.parse(body) as Status | null
    if (parsed?.kind === 'Status') return parsed
  } catch {
    // The body is not JSON, so its text is the message.
  }
  return { message: body.slice(0, 200).trim() }
}

/** Token bucket that serves callers in order. */
class TokenBucket {
  readonly #limit: RequesterOptions['limit']
  readonly #clock: Clock
  #tokens: number
  #atMs: number

  constructor(limit: RequesterOptions['limit'], clock: Clock) {
    this.#limit = limit
    this.#clock = clock
    this.#tokens = limit.burst
    this.#atMs = clock.nowMs()
  }

  /** Takes a token, or reserves a future one. @returns milliseconds until it is valid */
  reserve(): number {
    const { perSecond, burst } = this.#limit
    const nowMs = this.#clock.nowMs()
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * perSecond) - 1
    this.#atMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens * 1000) / perSecond
  }
}
