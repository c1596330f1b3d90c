// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Reservation, type ByteBudget } from '../../bytes/byte-budget.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { bufferOf } from '../../json/scanner.ts'
import type { Client } from '../../relay/call.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { drained, type Body, type ByteStream, type HeaderList } from '../../upstream/wire.ts'
import { acceptsGzip, gzipBytes, gzipFromBytes, gzipStream } from './compression.ts'
import type { ClientAddresses } from '../client-address.ts'
import { listOf, readHead, type RequestHead } from '../request-head.ts'

/** An answer from the router itself. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array
}

/** Turns requests into calls, and formats refusals as its interface does. */
export interface HttpHandler {
  /** Answers the exchange, now or later. Must not throw. */
  serve(exchange: HttpExchange): void
  /** Answers a request that never became an exchange: too large, not HTTP, or too slow. */
  refuse(error: RelayError, client: Client): HttpAnswer
}

/** Settings and state shared by all exchanges of a server. */
export interface ExchangeSettings {
  readonly stalledMs: number
  readonly budget: ByteBudget
  readonly clients: ClientAddresses
  /** Whether connections close after their next answer. */
  isDraining: boolean
}

const nothing = new Uint8Array()

/** One HTTP request from a client, and its response. */
export class HttpExchange extends Reservation implements RequestTarget, Client {
  readonly verb: string
  readonly path: string
  readonly query: string
  readonly fault: RelayError | null
  /** Names and values as received. */
  readonly headers: HeaderList
  /** The whole body, decoded from its content coding; empty if there is none. */
  body: Uint8Array = nothing
  /** Whether the client disconnected before its answer. Cheaper to read than `signal`. */
  gone = false
  readonly head: RequestHead
  readonly #remoteAddress: string | undefined
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
    // A socket forgets it when it closes.
    this.#remoteAddress = request.socket.remoteAddress
    this.#response = response
    this.#settings = settings
  }

  get address(): string {
    return this.#settings.clients.of(this.#remoteAddress, this.headers)
  }

  get userAgent(): string | null {
    return this.head.userAgent
  }

  /** Aborts if the client disconnects before its answer. Created on first use. */
  get signal(): Cancellation {
    if (this.#abort === null) {
      this.#abort = new Cancellation()
      if (this.gone) this.#abort.abort()
    }
    return this.#abort
  }

  /** The server calls this when the response has ended or was cut off. */
  closed(): void {
    this.finish()
    if (this.#response.writableFinished) return
    this.gone = true
    this.#abort?.abort()
  }

  /** Answers with bytes. Node omits the body for HEAD. */
  answer({ status, headers, body }: HttpAnswer): void {
    void this.respond(status, headers, body)
  }

  /**
   * Answers once. Bytes are sent when this returns, a stream when the promise settles. The exchange
   * adds length and coding, so `headers` has neither, except the length for HEAD.
   * @throws the stream's error, after cutting the client's connection. If nothing was sent, the
   * connection stays open, and another answer may follow.
   */
  respond(status: number, headers: HeaderList, body: Body | null): Promise<void> | undefined {
    // A second answer reports that the first one failed, which must happen before its head is sent.
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
    // A text body goes out together with its head, which saves a tenth of a call's CPU. latin1
    // preserves the bytes.
    if (body.length < gzipFromBytes) response.end(bufferOf(body).toString('latin1'), 'latin1')
    else response.end(body)
    if (response.writableLength > 0) this.#waitForClient(response.writableLength)
  }

  /** Times out a client that reads too slowly. */
  #waitForClient(bytes: number): void {
    this.#response.setTimeout(this.#settings.stalledMs)
    this.waits(bytes)
  }

  override cutOff(): void {
    this.#response.socket?.destroy()
  }

  /** Sends a stream at the client's read speed, chunked unless its length is known. */
  async #stream(status: number, headers: HeaderList, body: ByteStream): Promise<void> {
    const response = this.#response
    if (this.#settings.isDraining) response.shouldKeepAlive = false
    const zip = this.#takesGzip
    const length = body.length ?? null
    const coding = zip ? ['Content-Encoding', 'gzip'] : []
    const framing = zip || length === null ? coding : ['Content-Length', String(length)]
    // Waits for the first chunk, because a stream may fail before it.
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
      // Only a broken connection tells the client that its answer is incomplete.
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

/** Answers a listener's `GET /health`, by which load balancers learn whether it can serve. */
export function healthAnswer(isHealthy: boolean): { status: number; text: string } {
  return isHealthy ? { status: 200, text: 'Health status OK' } : { status: 503, text: 'Unhealthy' }
}

/** Path and query of a request. */
export interface RequestTarget {
  /** The path without its query, percent-encoded as sent. */
  readonly path: string
  /** Everything after `?`, as sent; empty if there is nothing. */
  readonly query: string
  /** Why the request cannot be sent to a node; null if it can. */
  readonly fault: RelayError | null
}

/** Error message that describes a valid request target. */
export const targetMessage =
  'the target of the request must be a path that begins with /, or an http:// URL, with everything but printable ASCII percent-encoded'
const fragmentMessage =
  'the target of the request contains a #, but a request has no fragment; write a literal # as %23'
const dotsMessage =
  'dot segments and percent-encoded dots in the path may lead above the root of the node, where its URL does not reach'

/**
 * Parses a request target (RFC 9112, 3.2) in origin form, or in the absolute form that proxies use,
 * without its origin. Nodes accept no other target: `*`, `host:port`, or another scheme.
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
 * Matches `..` as a segment. Servers differ in their separators and dots, and in the suffixes they
 * drop (`..;a`, white space). So it covers every form that some server accepts: plain,
 * percent-encoded, overlong or repeatedly encoded. No client needs to encode other dots.
 */
const dotSegment =
  /%(?:25)*(?:2e|u002e|c0%(?:25)*ae)|(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){2}(?:$|[/\\;%#\s])/i

/**
 * Rejects paths that nodes must not receive. With dot segments, a node could answer from outside
 * its URL's base path with the router's keys; clients resolve them. Nodes ignore everything after
 * `#` (RFC 9112, 3.2), such as keys that the router appends.
 */
export function faultOfPath(path: string, target = path): RelayError | null {
  if (target.includes('#')) return new RelayError(errorKinds.unsendable, fragmentMessage)
  return dotSegment.test(path) ? new RelayError(errorKinds.unsendable, dotsMessage) : null
}
