// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Cancellation } from '../../clock/cancellation.ts'
import { bufferOf } from '../../json/scanner.ts'
import { RelayError, errorKinds, type ErrorKind } from '../../relay/errors.ts'
import type { Body, ByteStream, HeaderList } from '../../upstream/wire.ts'
import { drained } from '../listener.ts'
import { acceptsGzip, gzipBytes, gzipFromBytes, gzipStream } from './compression.ts'

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

/** What all exchanges of a server have in common. */
export interface ExchangeSettings {
  /** A client that takes nothing of its answer for this long is cut off. */
  readonly stalledMs: number
  /** Connections are told to close after their answer. */
  isDraining: boolean
}

const nothing = new Uint8Array()

/** One HTTP request of a client and the way to answer it. */
export class HttpExchange {
  readonly verb: string
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** What stands behind the `?`, as sent; empty when there is none. */
  readonly query: string
  /** As on the wire. */
  readonly headers: HeaderList
  /** Why no node can be asked for it; null when one can. */
  readonly fault: RelayError | null
  /** The whole body, decoded from its content coding; empty when there is none. */
  body: Uint8Array = nothing
  /** The client went away before it was answered. Cheaper to ask than `signal`. */
  gone = false
  readonly contentEncoding: string | null
  readonly #response: ServerResponse
  readonly #settings: ExchangeSettings
  #abort: Cancellation | null = null

  constructor(request: IncomingMessage, response: ServerResponse, settings: ExchangeSettings) {
    const { path, query, fault } = readTarget(request.url ?? '')
    this.verb = request.method ?? ''
    this.path = path
    this.query = query
    this.fault = fault
    this.headers = request.rawHeaders
    this.#response = response
    this.#settings = settings
    // `request.headers` would build an object of all.
    this.contentEncoding = listOf(this.headers, 'content-encoding')
  }

  /** Aborted when the client went away before it was answered. Made when it is first asked for. */
  get signal(): Cancellation {
    if (this.#abort === null) {
      this.#abort = new Cancellation()
      if (this.gone) this.#abort.abort()
    }
    return this.#abort
  }

  /** For the server: the response is over, whichever way. */
  closed(): void {
    if (this.#response.writableFinished) return
    this.gone = true
    this.#abort?.abort()
  }

  /** Answers with what is here; to a HEAD without the body. */
  answer({ status, headers, body }: HttpAnswer): void {
    void this.respond(status, headers, body)
  }

  /**
   * Answers, once. Bytes are on their way when this returns; a stream when the promise settles.
   * `headers` name neither lengths nor codings: the exchange knows those, save for the length that
   * the answer to a HEAD would have.
   * @throws the stream's own error, after the client's connection was cut; when nothing of the
   *   stream had come, the connection is well, and another answer may be given
   */
  respond(status: number, headers: HeaderList, body: Body | null): Promise<void> | undefined {
    // The second answer of two is the one that says that the first broke off.
    if (this.#response.headersSent) return undefined
    if (!(body instanceof Uint8Array)) {
      if (body !== null) return this.#stream(status, headers, body)
      this.#send(status, headers, body)
    } else if (body.length < gzipFromBytes) this.#send(status, headers, body)
    else {
      const varied = [...headers, 'Vary', 'Accept-Encoding']
      if (this.#takesGzip) return this.#zip(status, varied, body)
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
    response.writeHead(status, headers.concat('Content-Length', String(body.length)))
    // Head and body leave in one piece when both are text, which saves a tenth of a call's CPU;
    // latin1 gives the same bytes back.
    if (body.length < gzipFromBytes) response.end(bufferOf(body).toString('latin1'), 'latin1')
    else response.end(body)
    if (response.writableLength > 0) response.setTimeout(this.#settings.stalledMs)
  }

  async #zip(status: number, headers: HeaderList, body: Uint8Array): Promise<void> {
    const zipped = await gzipBytes(body)
    this.#send(status, [...headers, 'Content-Encoding', 'gzip'], zipped)
  }

  /** A stream goes out as fast as the client takes it; in chunks, unless its length is known. */
  async #stream(status: number, headers: HeaderList, body: ByteStream): Promise<void> {
    const response = this.#response
    if (this.#settings.isDraining) response.shouldKeepAlive = false
    const zip = this.#takesGzip
    const length = body.length ?? null
    const coding = zip ? ['Content-Encoding', 'gzip'] : []
    const framing = zip || length === null ? coding : ['Content-Length', String(length)]
    // Not before there is something to say: a stream may fail at once.
    const begin = () => {
      if (!response.headersSent)
        response.writeHead(status, [...headers, 'Vary', 'Accept-Encoding', ...framing])
    }
    try {
      for await (const chunk of zip ? gzipStream(body) : body) {
        if (this.gone) return
        begin()
        if (response.write(chunk)) continue
        response.setTimeout(this.#settings.stalledMs)
        await drained(response)
        response.setTimeout(0)
      }
    } catch (error) {
      // Only a broken connection tells the client that what it got is not all.
      if (response.headersSent) response.socket?.resetAndDestroy()
      throw error
    }
    if (this.gone) return
    begin()
    response.end()
    if (response.writableLength > 0) response.setTimeout(this.#settings.stalledMs)
  }

  get #takesGzip(): boolean {
    return acceptsGzip(listOf(this.headers, 'accept-encoding'))
  }
}

/** A header that may come several times, as one list; null where it is absent. `name` is lower case. */
function listOf(headers: HeaderList, name: string): string | null {
  let list: string | null = null
  for (let at = 0; at < headers.length; at += 2) {
    const each = headers[at] as string
    if (each.length !== name.length || each.toLowerCase() !== name) continue
    list = list === null ? (headers[at + 1] as string) : `${list}, ${headers[at + 1]}`
  }
  return list
}

/** What `GET /health` of a listener says: whether it can serve, for load balancers. */
export function healthAnswer(isHealthy: boolean): { status: number; text: string } {
  return isHealthy ? { status: 200, text: 'Health status OK' } : { status: 503, text: 'Unhealthy' }
}

/** What a request asks for. */
export interface RequestTarget {
  /** Without the query, percent-encoding as sent. */
  readonly path: string
  /** What stands behind the `?`, as sent; empty when there is none. */
  readonly query: string
  /** Why no node can be asked for it; null when one can. */
  readonly fault: RelayError | null
}

/** What a request target must be. */
export const targetMessage =
  'the target of the request must be a path that begins with /, or an http:// URL, with whatever is not printable ASCII percent-encoded'
const fragmentMessage =
  'the target of the request has a # in it, which begins a fragment, and no request has one; a # that is meant is %23'
const dotsMessage =
  'the dot segments of the path may lead above the root of the node, where its URL does not reach'

/**
 * Reads a request target (RFC 9112, 3.2) in origin form, or in absolute form without the origin that
 * clients of a proxy put before it. No node can be asked for others: `*`, `host:port`, a URL of another scheme.
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
 * `..` as a segment. Servers differ in what they take for a separator and for dots, and in what they
 * drop behind them (`..;a`, white space), so whatever one of them may understand counts: plain,
 * percent-encoded, or with the encoding itself encoded.
 */
const dotSegment = /(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){2}(?:$|[/\\;%#\s])/i

/**
 * What a path may not have. By dot segments a node's server might answer from beside the base path of
 * its URL, with the router's keys; clients resolve them before they ask. Behind a `#` (RFC 9112, 3.2)
 * a node would not read, such as the keys that the router puts there.
 */
export function faultOfPath(path: string, target = path): RelayError | null {
  if (target.includes('#')) return new RelayError(errorKinds.unsendable, fragmentMessage)
  return dotSegment.test(path) ? new RelayError(errorKinds.unsendable, dotsMessage) : null
}
