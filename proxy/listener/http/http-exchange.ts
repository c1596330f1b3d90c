// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Reservation, type ByteBudget } from '../../bytes/byte-budget.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { bufferOf } from '../../json/scanner.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { drained, type Body, type ByteStream, type HeaderList } from '../../upstream/wire.ts'
import { acceptsGzip, gzipBytes, gzipFromBytes, gzipStream } from './compression.ts'
import { listOf, readHead, type RequestHead } from '../request-head.ts'

/** An answer of the router itself. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
}

/** Makes calls of requests, and writes refusals in the form of its interface. */
export interface HttpHandler {
  /** Answers the exchange, now or later. Must not throw. */
  serve(exchange: HttpExchange): void
  /** The answer to a request that never became an exchange: too large, not HTTP, too slow. */
  refuse(error: RelayError): HttpAnswer
}

/** What all exchanges of a server have in common. */
export interface ExchangeSettings {
  readonly stalledMs: number
  readonly budget: ByteBudget
  /** Connections close after their answer. */
  isDraining: boolean
}

const nothing = new Uint8Array()

/** One HTTP request of a client and the way to answer it. */
export class HttpExchange extends Reservation implements RequestTarget {
  readonly verb: string
  readonly path: string
  readonly query: string
  readonly fault: RelayError | null
  /** As on the wire. */
  readonly headers: HeaderList
  /** The whole body, decoded from its content coding; empty when there is none. */
  body: Uint8Array = nothing
  /** The client left before it was answered. Cheaper to read than `signal`. */
  gone = false
  readonly head: RequestHead
  readonly #response: ServerResponse
  readonly #settings: ExchangeSettings
  #abort: Cancellation | null = null

  constructor(request: IncomingMessage, response: ServerResponse, settings: ExchangeSettings) {
    super(settings.budget)
    const { path, query, fault } = readTarget(request.url ?? '')
    this.verb = request.method ?? ''
    this.path = path
    this.query = query
    this.head = readHead(request)
    this.fault = fault
    this.headers = request.rawHeaders
    this.#response = response
    this.#settings = settings
  }

  /** Aborted when the client left before it was answered. Created at its first use. */
  get signal(): Cancellation {
    if (this.#abort === null) {
      this.#abort = new Cancellation()
      if (this.gone) this.#abort.abort()
    }
    return this.#abort
  }

  /** For the server: the response has ended or broken off. */
  closed(): void {
    this.finish()
    if (this.#response.writableFinished) return
    this.gone = true
    this.#abort?.abort()
  }

  /** Answers with bytes; Node leaves the body out for a HEAD. */
  answer({ status, headers, body }: HttpAnswer): void {
    void this.respond(status, headers, body)
  }

  /**
   * Answers, once. Bytes are sent when this returns; a stream when the promise settles. `headers` have
   * no length and no coding, which the exchange adds, except the length in the answer to a HEAD.
   * @throws the stream's error. The client's connection is cut then. If nothing of the stream was sent,
   *   it is kept, and another answer may be given.
   */
  respond(status: number, headers: HeaderList, body: Body | null): Promise<void> | undefined {
    // A second answer is the error after the first one broke off.
    if (this.#response.headersSent) return undefined
    if (!(body instanceof Uint8Array)) {
      if (body !== null) return this.#stream(status, headers, body)
      this.#send(status, headers, body)
      return undefined
    }
    this.hold(body.length)
    if (body.length < gzipFromBytes) this.#send(status, headers, body)
    else {
      const varied = [...headers, 'Vary', 'Accept-Encoding']
      if (this.#takesGzip)
        return gzipBytes(body).then((zipped) =>
          this.#send(status, [...varied, 'Content-Encoding', 'gzip'], zipped),
        )
      this.#send(status, varied, body)
    }
    return undefined
  }

  #send(status: number, headers: HeaderList, body: Uint8Array | null): void {
    const response = this.#response
    if (this.gone) return
    if (this.#settings.isDraining) response.shouldKeepAlive = false
    if (body === null) {
      response.writeHead(status, headers as string[]).end()
      return
    }
    response.writeHead(status, [...headers, 'Content-Length', String(body.length)])
    // Head and body are sent in one piece when both are text, which saves a tenth of a call's CPU;
    // latin1 keeps the bytes unchanged.
    if (body.length < gzipFromBytes) response.end(bufferOf(body).toString('latin1'), 'latin1')
    else response.end(body)
    if (response.writableLength > 0) this.#waitForClient(response.writableLength)
  }

  /** The client does not read as fast as it is answered. */
  #waitForClient(bytes: number): void {
    this.#response.setTimeout(this.#settings.stalledMs)
    this.waits(bytes)
  }

  override cutOff(): void {
    this.#response.socket?.destroy()
  }

  /** Sends a stream as fast as the client reads it; in chunks, unless its length is known. */
  async #stream(status: number, headers: HeaderList, body: ByteStream): Promise<void> {
    const response = this.#response
    if (this.#settings.isDraining) response.shouldKeepAlive = false
    const zip = this.#takesGzip
    const length = body.length ?? null
    const coding = zip ? ['Content-Encoding', 'gzip'] : []
    const framing = zip || length === null ? coding : ['Content-Length', String(length)]
    // Not before the first piece: a stream may fail at once.
    const begin = () => {
      if (!response.headersSent)
        response.writeHead(status, [...headers, 'Vary', 'Accept-Encoding', ...framing])
    }
    try {
      for await (const chunk of zip ? gzipStream(body) : body) {
        if (this.gone) return
        begin()
        if (response.write(chunk)) continue
        this.hold(chunk.length)
        this.#waitForClient(chunk.length)
        await drained(response)
        this.waits(0)
        response.setTimeout(0)
        this.hold(-chunk.length)
      }
    } catch (error) {
      // Only a broken connection shows the client that its answer is not complete.
      if (response.headersSent) response.socket?.resetAndDestroy()
      throw error
    }
    if (this.gone) return
    begin()
    response.end()
    if (response.writableLength > 0) this.#waitForClient(response.writableLength)
  }

  get #takesGzip(): boolean {
    return acceptsGzip(listOf(this.headers, 'accept-encoding'))
  }
}

/** The answer to `GET /health` of a listener: whether it can serve, for load balancers. */
export function healthAnswer(isHealthy: boolean): { status: number; text: string } {
  return isHealthy ? { status: 200, text: 'Health status OK' } : { status: 503, text: 'Unhealthy' }
}

/** The path and the query of a request. */
export interface RequestTarget {
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** The part behind the `?`, as sent; empty when there is none. */
  readonly query: string
  /** Why the request cannot be sent to a node; null when it can. */
  readonly fault: RelayError | null
}

/** What a request target must be. */
export const targetMessage =
  'the target of the request must be a path that begins with /, or an http:// URL, with whatever is not printable ASCII percent-encoded'
const fragmentMessage =
  'the target of the request has a # in it, which begins a fragment, and no request has one; a # that is meant is %23'
const dotsMessage =
  'dot segments and percent-encoded dots in the path may lead above the root of the node, where its URL does not reach'

/**
 * Reads a request target (RFC 9112, 3.2) in origin form, or in the absolute form of a proxy's clients,
 * whose origin is dropped. Others cannot be sent: `*`, `host:port`, a URL of another scheme.
 */
export function readTarget(target: string): RequestTarget {
  const mark = target.indexOf('?')
  const bare = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? '' : target.slice(mark + 1)
  const origin = bare.startsWith('/') ? '' : /^https?:\/\/[^/]+/i.exec(bare)?.[0]
  if (origin === undefined)
    return { path: '', query: '', fault: new RelayError(errorKinds.unsendable, targetMessage) }
  const path = bare.slice(origin.length) || '/'
  return { path, query, fault: faultOfPath(path, target) }
}

/**
 * `..` as a segment. Servers differ in what they read as separators and dots, and in what they drop
 * behind them (`..;a`, white space). So every form that one of them may accept counts: plain,
 * percent-encoded (also longer than it need be), or encoded twice or more. No client has a reason to encode any other dot.
 */
const dotSegment =
  /%(?:25)*(?:2e|u002e|c0%(?:25)*ae)|(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){2}(?:$|[/\\;%#\s])/i

/**
 * What a path must not contain. With dot segments a node's server might answer from outside the base
 * path of its URL, with the router's keys; clients resolve them beforehand. A node would not read what
 * is behind a `#` (RFC 9112, 3.2), such as the keys that the router adds.
 */
export function faultOfPath(path: string, target = path): RelayError | null {
  if (target.includes('#')) return new RelayError(errorKinds.unsendable, fragmentMessage)
  return dotSegment.test(path) ? new RelayError(errorKinds.unsendable, dotsMessage) : null
}
