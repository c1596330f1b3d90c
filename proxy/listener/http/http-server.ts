// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  STATUS_CODES,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { sleep, type Clock } from '../../clock/clock.ts'
import type { Address } from '../../config/types.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { decodeBody, tooLarge } from './compression.ts'
import { Connections, type Connection } from './connections.ts'
import type { HttpAnswer, HttpHandler } from './http-exchange.ts'
import {
  closed,
  closeGraceMs,
  drainCheckMs,
  drainQuietMs,
  type Listener,
  listenOn,
} from '../listener.ts'
import { NodeExchange, readHead, type RequestHead } from './node-exchange.ts'
import {
  aboveRootMessage,
  fragmentMessage,
  leadsAboveRoot,
  readTarget,
  targetMessage,
  unparsedMessage,
  type ParseError,
  type RequestTarget,
} from './request-target.ts'
import type { WebSocketServer } from '../websocket/websocket-server.ts'

/** How long a client may take for what. */
export interface HttpTimeouts {
  /** Until the head of a request is there. */
  readonly headersMs: number
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number
  /** How often both are looked at. */
  readonly checkMs: number
  /** Between requests. Longer than with common load balancers (60 s), so that they close first. */
  readonly keepAliveMs: number
  /** Without taking any of its answer. */
  readonly stalledMs: number
}

const defaultTimeouts: HttpTimeouts = {
  headersMs: 30_000,
  requestMs: 60_000,
  checkMs: 1_000,
  keepAliveMs: 75_000,
  stalledMs: 60_000,
}

const maxHeaderBytes = 16 * 1024
/** How long a refused client may go on sending before its connection is cut. */
const lingerMs = 2_000
/** A drain waits until who is in the middle of sending a request has paused for this long. */
const halfSentMs = 2_000

export interface HttpServerOptions {
  readonly address: Address
  /** Of a request body, before and after its content coding is undone. */
  readonly maxRequestBytes: number
  readonly clock: Clock
  readonly handler: HttpHandler
  readonly connectionsChanged: (open: number) => void
  readonly sockets?: WebSocketServer | null
  readonly timeouts?: HttpTimeouts
}

/** An HTTP/1.1 server on `node:http`. Of that library WebSockets see the request by which they begin, and nobody else anything. */
export function createHttpServer(options: HttpServerOptions): Listener {
  return new NodeHttpServer(options)
}

class NodeHttpServer implements Listener {
  readonly #options: HttpServerOptions
  readonly #server: Server
  readonly #connections: Connections
  readonly #stalledMs: number
  #draining = false

  constructor(options: HttpServerOptions) {
    this.#options = options
    this.#connections = new Connections(options.clock, options.connectionsChanged)
    const { keepAliveMs, headersMs, requestMs, checkMs, stalledMs } =
      options.timeouts ?? defaultTimeouts
    this.#stalledMs = stalledMs
    this.#server = createServer({
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: maxHeaderBytes,
      // Node would refuse those without one in no words.
      requireHostHeader: false,
      // What asks for another protocol than this is served as if it had not.
      shouldUpgradeCallback: (request) => options.sockets?.takes(request) ?? false,
    })
    // Bounded by their size; a limit on their number would drop some without a word.
    this.#server.maxHeadersCount = 0
    this.#server
      .on('connection', (socket) => this.#connections.of(socket))
      .on('request', (request, response) => {
        this.#receive(request, response, false)
      })
      .on('checkContinue', (request, response) => {
        this.#receive(request, response, true)
      })
      .on('upgrade', (request, wire, head) => {
        // Node no longer hears errors of a wire that leaves HTTP, and one that nobody hears ends the process.
        wire.on('error', () => {})
        this.#connections.upgraded(request.socket)
        options.sockets?.upgrade(request, wire, head)
      })
      .on('clientError', (error: ParseError, socket) => {
        this.#refuseBytes(error, socket as Socket)
      })
  }

  start(): Promise<Address> {
    return listenOn(this.#server, this.#options.address)
  }

  async drain(): Promise<void> {
    this.#draining = true
    const { sockets } = this.#options
    sockets?.leave()
    while (!this.#connections.isQuiet(drainQuietMs, halfSentMs) || (sockets?.size ?? 0) > 0)
      await sleep(this.#options.clock, drainCheckMs)
  }

  async settle(): Promise<void> {
    this.#draining = true
    this.#server.close()
    this.#connections.endIdle()
    const { sockets } = this.#options
    sockets?.settle()
    while (this.#connections.isServing || sockets?.isServing)
      await sleep(this.#options.clock, drainCheckMs)
  }

  async close(): Promise<void> {
    this.#draining = true
    const { clock, sockets } = this.#options
    const untilMs = clock.nowMs() + closeGraceMs
    this.#connections.endIdle()
    sockets?.settle()
    while (this.#connections.size > 0 && clock.nowMs() < untilMs) await sleep(clock, drainCheckMs)
    sockets?.terminate()
    const end = closed(this.#server)
    this.#server.closeAllConnections()
    await end
  }

  #begin(
    request: IncomingMessage,
    response: ServerResponse,
    head: RequestHead,
    target: RequestTarget,
  ): NodeExchange {
    const connection = this.#connections.of(request.socket)
    this.#connections.began(connection, request)
    const isDraining = () => this.#draining
    const exchange = new NodeExchange(request, response, head, target, this.#stalledMs, isDraining)
    response.on('close', () => {
      this.#connections.ended(connection)
      exchange.closed()
    })
    return exchange
  }

  #receive(request: IncomingMessage, response: ServerResponse, mustContinue: boolean): void {
    const { maxRequestBytes, handler } = this.#options
    const head = readHead(request.rawHeaders)
    const target = readTarget(request.url ?? '')
    const exchange = this.#begin(request, response, head, target ?? noTarget)
    const fault = faultOf(request, head, target)
    if (fault) return this.#refuse(request, exchange, fault)
    const overflow = () => {
      this.#refuse(request, exchange, tooLarge(maxRequestBytes))
    }
    if (head.contentLength > maxRequestBytes) return overflow()
    if (mustContinue) response.writeContinue()
    collectBody(
      request,
      maxRequestBytes,
      (body) => {
        if (head.contentEncoding !== null) void this.#decode(request, exchange, body)
        else {
          exchange.body = body
          handler.serve(exchange)
        }
      },
      overflow,
    )
  }

  async #decode(request: IncomingMessage, exchange: NodeExchange, body: Buffer): Promise<void> {
    const { maxRequestBytes, handler } = this.#options
    try {
      exchange.body = await decodeBody(exchange.head.contentEncoding ?? '', body, maxRequestBytes)
    } catch (error) {
      if (!(error instanceof RelayError)) throw error
      return this.#refuse(request, exchange, error)
    }
    handler.serve(exchange)
  }

  /** Answers a request whose body may still be on its way. */
  #refuse(request: IncomingMessage, exchange: NodeExchange, { kind, message }: RelayError): void {
    const answer = this.#options.handler.refuse(kind, message)
    if (request.complete && kind !== errorKinds.badHttp) {
      void exchange.respond(answer.status, answer.headers, answer.body)
      return
    }
    // Closing while the client still sends would reset the connection, and it might never read
    // the answer. So the answer goes out whole, and what still comes is dropped for a while.
    const end = exchange.respondAndHold(answer)
    if (request.complete) return end()
    const cancel = this.#options.clock.after(lingerMs, end)
    request.once('end', () => {
      cancel()
      end()
    })
    request.resume()
  }

  /** Answers bytes that are not an HTTP request, or that came too slowly. */
  #refuseBytes(error: ParseError, socket: Socket): void {
    const connection = this.#connections.of(socket)
    if (connection.refused) return
    connection.refused = true
    if (!socket.writable || error.code === 'ECONNRESET' || owesAnswers(connection)) {
      socket.destroy()
      return
    }
    socket.end(rawAnswer(this.#refusalOf(error)))
    this.#options.clock.after(lingerMs, () => socket.destroy())
  }

  #refusalOf(error: ParseError): HttpAnswer {
    const { handler } = this.#options
    switch (error.code) {
      case 'HPE_HEADER_OVERFLOW':
        return handler.refuse(
          errorKinds.headersTooLarge,
          `the request line and headers are longer than ${maxHeaderBytes} bytes`,
        )
      case 'ERR_HTTP_REQUEST_TIMEOUT':
        return handler.refuse(errorKinds.slowRequest, 'the request took too long to arrive')
      default:
        return handler.refuse(errorKinds.badHttp, unparsedMessage(error))
    }
  }
}

/** Of a request that is refused whatever it asks for. */
const noTarget: RequestTarget = { path: '', query: '' }

/** What is wrong with the head of a request, whatever it asks for. */
function faultOf(
  request: IncomingMessage,
  { hasHost, transferEncoding }: RequestHead,
  target: RequestTarget | null,
): RelayError | null {
  if (!hasHost && request.httpVersion === '1.1') {
    const message = 'a request in HTTP/1.1 must have a Host header'
    return new RelayError(errorKinds.badHttp, message)
  }
  if (target === null) {
    return new RelayError(errorKinds.unsendable, targetMessage)
  }
  if (request.url?.includes('#')) return new RelayError(errorKinds.unsendable, fragmentMessage)
  if (leadsAboveRoot(target.path)) return new RelayError(errorKinds.unsendable, aboveRootMessage)
  // Only the chunks are undone, and what is left would pass for the body.
  if (transferEncoding !== null && /,[ \t]*chunked[ \t]*$/i.test(transferEncoding)) {
    const message = 'the only Transfer-Encoding that this router knows is chunked'
    return new RelayError(errorKinds.unknownTransferCoding, message)
  }
  return null
}

/** An answer now would be taken for the one to an earlier request of the same connection. */
function owesAnswers({ inFlight, newest }: Connection): boolean {
  return inFlight > (newest?.complete === false ? 1 : 0)
}

function rawAnswer({ status, headers, body }: HttpAnswer): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  lines.push(`Content-Length: ${body.length}`, 'Connection: close', '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body])
}

const nothing = Buffer.alloc(0)

/**
 * Reads a stream to its end. Calls `done` with all bytes, or `overflow` as soon as there are more
 * than `maxBytes`; never both, and neither when the stream breaks. The rest of a body that is too
 * long is read and dropped.
 */
function collectBody(
  stream: Readable,
  maxBytes: number,
  done: (body: Buffer) => void,
  overflow: () => void,
): void {
  // Most bodies come in one piece, so there is no list until a second one comes.
  let first: Buffer | null = null
  let pieces: Buffer[] | null = null
  let length = 0
  let over = false
  stream.on('data', (piece: Buffer) => {
    if (over) return
    length += piece.length
    if (length > maxBytes) {
      over = true
      first = pieces = null
      return overflow()
    }
    if (first === null) first = piece
    else (pieces ??= [first]).push(piece)
  })
  stream.on('end', () => {
    if (!over) done(pieces ? Buffer.concat(pieces, length) : (first ?? nothing))
  })
}
