// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { Reservation } from '../../bytes/byte-budget.ts'
import { clientLimits, http2Limits, httpTimes } from '../../bytes/limits.ts'
import { Cancellation, type CancelSignal } from '../../clock/cancellation.ts'
import type { Cancel, Clock } from '../../clock/clock.ts'
import { floodOf } from '../../clock/flood.ts'
import type { Client } from '../../relay/call.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { drained, header, type Body, type HeaderList } from '../../upstream/wire.ts'
import { tooLarge } from '../http/compression.ts'
import type { ClientAddresses } from '../client-address.ts'
import type { ListenerOptions } from '../listener.ts'
import { headCost } from '../request-head.ts'
import { GrpcFrames } from './grpc-messages.ts'
import { statusOf } from './grpc-headers.ts'
import { RequestBody } from './request-body.ts'

/** Shorter answers get no read timer. */
const watchedFromBytes = 16 * 1024
/** Created once: a stack trace per call would cost more than the call's messages. */
const clientLeft = new Error('the client left')
const answered = new Error('the call is answered')
const calm = constants.NGHTTP2_ENHANCE_YOUR_CALM
/** Ends a client's connection with a code. Node sends none without an error code. */
export const flooded = Object.assign(new Error('too many pings, settings, resets or tiny frames'), {
  code: 'ERR_HTTP2_FLOOD',
})
const overBudget = new Error('the connection is idle and holds too much memory')

export function endConnection(session: Http2Session | undefined, why: Error): void {
  session?.destroy(why, calm)
}

/** State shared by all exchanges of one client connection. */
export interface ClientConnection {
  /** How often the connection drained everything written to one of its streams. */
  drains: number
  streams: number
  chunks: number
  /** Pacer turn in which the connection last began a call; see `EventLoopPacer`. */
  lastTurn: number
}

/** One client request and its answer, on an HTTP/2 stream. */
export class Http2Exchange extends Reservation implements Client {
  readonly verb: string
  readonly path: string
  /** Names are lower case; HTTP/2 pseudo-headers begin with a colon. */
  readonly headers: HeaderList
  readonly body: RequestBody
  readonly #stream: ServerHttp2Stream
  readonly #frames = new GrpcFrames()
  readonly #clock: Clock
  readonly #clients: ClientAddresses
  readonly #remoteAddress: string | undefined
  readonly #connection: ClientConnection
  /** The connection's `drains` at the time this stream began to wait. */
  #drainsBefore = 0
  readonly #left = new Cancellation()
  #activeMs = 0
  #cancelIdle: Cancel = () => {}

  /** @param options `maxRequestBytes` limits a single client message */
  constructor(
    stream: ServerHttp2Stream,
    headers: HeaderList,
    options: Pick<ListenerOptions, 'maxRequestBytes' | 'clock' | 'budget' | 'clients'>,
    connection: ClientConnection,
  ) {
    super(options.budget)
    const { maxRequestBytes, clock, budget } = options
    const pseudo = (name: string) => headers[headers.indexOf(name) + 1] ?? ''
    this.#stream = stream
    this.#clock = clock
    this.#clients = options.clients
    // A session forgets its socket when it closes.
    this.#remoteAddress = stream.session?.socket.remoteAddress
    this.#connection = connection
    this.verb = pseudo(':method')
    this.path = pseudo(':path')
    this.headers = headers
    const client = {
      // Must be cheap, because many calls may be cut off at once. Clients read the reset code as
      // RESOURCE_EXHAUSTED; a connection without progress gets one GOAWAY instead.
      cutOff: () => {
        this.body.release()
        if (connection.chunks === chunksBefore) endConnection(stream.session, overBudget)
        else stream.close(calm)
      },
    }
    const chunksBefore = connection.chunks
    const countTiny = floodOf(clock, http2Limits.tinyPieces, () => {
      endConnection(stream.session, flooded)
    })
    const headBytes = headers.reduce((sum, { length }) => sum + length, headCost(headers))
    const body = new RequestBody(http2Limits.keptBytes, stream, budget, client, headBytes)
    this.body = body
    const frames = this.#frames
    const left = () => body.end(clientLeft)
    stream
      .on('data', (chunk: Buffer) => {
        this.#activeMs = clock.nowMs()
        connection.chunks += 1
        if (chunk.length < http2Limits.tinyPieces.bytes) countTiny()
        frames.push(chunk)
        if (frames.longestBytes > maxRequestBytes)
          return this.cutOffWith(statusOf(tooLarge(maxRequestBytes)))
        body.push(chunk)
      })
      // Node also emits `end` after a reset, which is not the end of the body.
      .on('aborted', () => {
        left()
        this.#left.abort()
      })
      .on('end', () => {
        this.#cancelIdle()
        if (stream.aborted) return
        if (frames.isWhole) return body.end('whole')
        // A node would report an internal error, or accept the truncated request as complete.
        const message = 'the request ends in the middle of a message'
        const error = new RelayError(errorKinds.badGrpc, message)
        body.end(error)
        this.cutOffWith(statusOf(error))
      })
      .on('close', () => {
        this.#cancelIdle()
        left()
        body.release()
        this.finish()
        if (!stream.writableFinished || stream.rstCode !== constants.NGHTTP2_NO_ERROR)
          this.#left.abort()
      })
      .on('finish', () => {
        connection.drains += 1
      })
      // The stream closes after any error, so `close` does the cleanup.
      .on('error', () => {})
  }

  get address(): string {
    return this.#clients.of(this.#remoteAddress, this.headers)
  }

  get userAgent(): string | null {
    return header(this.headers, 'user-agent')
  }

  /** Aborts if the client cancels its call before the answer. */
  get signal(): CancelSignal {
    return this.#left
  }

  /** Whether the connection has other calls in flight. */
  get isOneOfMany(): boolean {
    return this.#connection.streams > 1
  }

  /** Number of complete messages received. */
  get messages(): number {
    return this.#frames.count
  }

  /**
   * The whole body, if it is buffered and ends within this time after its first message; otherwise
   * null. A unary call's message and end arrive together, however long they take.
   */
  async wholeBody(momentMs: number): Promise<Uint8Array | null> {
    await this.body.until(() => this.messages > 0, http2Limits.firstMessageMs, this.#clock)
    await this.body.until(() => false, momentMs, this.#clock)
    return this.body.whole
  }

  /** Calls `run` once neither side has sent anything for `idleMs` while the request is open. */
  whenIdle(idleMs: number, run: () => void): void {
    const clock = this.#clock
    const stream = this.#stream
    this.#activeMs = clock.nowMs()
    const check = () => {
      if (stream.destroyed || stream.readableEnded || stream.writableEnded) return
      const leftMs = this.#activeMs + idleMs - clock.nowMs()
      if (leftMs <= 0) run()
      else this.#cancelIdle = clock.after(leftMs, check)
    }
    check()
  }

  /** Answers a request that is not gRPC in plain HTTP. */
  answerText(status: number, text: string, headers: HeaderList = []): void {
    const stream = this.#stream
    if (stream.destroyed || stream.headersSent) return
    stream.respond([':status', String(status), 'content-type', 'text/plain', ...headers])
    stream.end(text)
    this.#linger()
  }

  /** Answers without a message: head and status in one block. */
  end(headers: HeaderList, status: HeaderList): void {
    if (this.#stream.destroyed || this.#stream.headersSent) return
    this.#stream.respond([':status', '200', ...lowerCase(headers), ...status], { endStream: true })
    this.#linger()
  }

  /** Discards later request bytes, and closes a request that never ends (RFC 9113, 8.1). */
  #linger(): void {
    const stream = this.#stream
    this.body.end(answered)
    if (stream.readableEnded) return
    this.body.drop()
    stream.resume()
    this.#cancelIdle()
    this.#cancelIdle = this.#clock.after(clientLimits.lingerMs, () =>
      stream.close(constants.NGHTTP2_NO_ERROR),
    )
  }

  /** Ends the answer with this status, even in the middle of its messages. */
  cutOffWith(status: HeaderList): void {
    const stream = this.#stream
    if (stream.destroyed || stream.writableEnded) return
    if (!stream.headersSent) this.end(['content-type', 'application/grpc'], status)
    else {
      this.#trailers = () => status
      stream.end()
    }
    this.#left.abort()
  }

  #trailers: () => HeaderList = () => []

  /**
   * Answers at the client's read speed: messages, then the status.
   * @throws the error of the stream
   */
  async respond(headers: HeaderList, body: Body, trailers: () => HeaderList): Promise<void> {
    const stream = this.#stream
    if (stream.destroyed || stream.headersSent) return
    this.#trailers = trailers
    stream.on('wantTrailers', () => {
      try {
        stream.sendTrailers(toObject(this.#trailers()))
      } catch (error) {
        // Trailers that cannot be sent end only this call.
        stream.destroy(error as Error)
      }
    })
    stream.respond([':status', '200', ...lowerCase(headers)], { waitForTrailers: true })
    if (body instanceof Uint8Array) {
      this.hold(body.length)
      stream.end(body)
      this.#linger()
      if (body.length < watchedFromBytes) {
        // A client that reads drains it within two event-loop turns, however busy the router was.
        setImmediate(() => setImmediate(() => this.waits(body.length)))
        return
      }
    } else {
      for await (const piece of body) {
        this.#activeMs = this.#clock.nowMs()
        if (stream.destroyed || stream.writableEnded) return
        if (stream.write(piece)) continue
        const heldBytes = piece.length + (body.behindBytes ?? 0)
        this.hold(heldBytes)
        const unwatch = this.#waitForClient(heldBytes)
        await drained(stream)
        this.#connection.drains += 1
        unwatch()
        this.hold(-heldBytes)
      }
      if (stream.destroyed) return
      stream.end()
      this.#linger()
    }
    stream.once('close', this.#waitForClient(stream.writableLength))
  }

  /** Cuts the client off if it stops reading for too long. */
  #waitForClient(bytes: number): Cancel {
    const cancel = this.#clock.after(httpTimes.stalledMs, () => this.#stream.close(calm))
    this.waits(bytes)
    return () => {
      cancel()
      this.waits(0)
    }
  }

  override waits(bytes?: number): void {
    this.#drainsBefore = this.#connection.drains
    super.waits(bytes)
  }

  /** The code gives the reason. A stalled connection closes as a whole, which frees its buffers. */
  override cutOff(): void {
    if (this.#connection.drains === this.#drainsBefore)
      return endConnection(this.#stream.session, overBudget)
    this.#stream.close(calm)
    this.#stream.destroy()
  }
}

function lowerCase(headers: HeaderList): HeaderList {
  return headers.map((each, at) => (at % 2 === 0 ? each.toLowerCase() : each))
}

/** Preserves all values of repeated names. */
function toObject(headers: HeaderList): Record<string, string[]> {
  // A node may send a trailer named `__proto__`.
  const object = Object.create(null) as Record<string, string[]>
  for (let at = 0; at < headers.length; at += 2)
    (object[headers[at] as string] ??= []).push(headers[at + 1] as string)
  return object
}
