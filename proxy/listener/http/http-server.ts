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
import { budgetLimits, clientLimits, httpTimes } from '../../bytes/limits.ts'
import type { Address } from '../../config/types.ts'
import { RelayError, errorKinds, type ErrorKind } from '../../relay/errors.ts'
import {
  closeGraceMs,
  drainQuietMs,
  ReusePortListeners,
  until,
  type Listener,
  type ListenerObserver,
  type ListenerOptions,
} from '../listener.ts'
import { headCost } from '../request-head.ts'
import type { WebSocketServer } from '../websocket/websocket-server.ts'
import { decodeBody, tooLarge } from './compression.ts'
import { Connection } from './connection.ts'
import {
  HttpExchange,
  type ExchangeSettings,
  type HttpAnswer,
  type HttpHandler,
  targetMessage,
} from './http-exchange.ts'
import { Upload } from './upload.ts'

const tinyPiecesCode = 'TINY_PIECES'
/** Errors for invalid or slow requests, by Node's error code. */
const refusals: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  HPE_HEADER_OVERFLOW: [
    errorKinds.headersTooLarge,
    `the request line and headers are longer than ${clientLimits.headBytes} bytes`,
  ],
  HPE_INVALID_URL: [errorKinds.badHttp, targetMessage],
  ERR_HTTP_REQUEST_TIMEOUT: [errorKinds.slowRequest, 'the request took too long to arrive'],
  [tinyPiecesCode]: [errorKinds.badHttp, 'the request body arrives in pieces of a few bytes'],
}
const notHttp = [errorKinds.badHttp, 'this is not a request in HTTP/1.1'] as const

export interface HttpServerOptions extends Pick<
  ListenerOptions,
  'address' | 'isShared' | 'maxRequestBytes' | 'clock' | 'budget' | 'clients'
> {
  readonly handler: HttpHandler
  readonly observer: Pick<ListenerObserver, 'connectionsChanged' | 'acceptFailed'>
  readonly sockets?: WebSocketServer
  readonly timeouts?: typeof httpTimes
}

/** HTTP/1.1 server on `node:http`. WebSockets share it through their upgrade requests. */
export class HttpServer implements Listener {
  readonly #options: HttpServerOptions
  readonly #server: Server
  readonly #doors: ReusePortListeners
  readonly #settings: ExchangeSettings
  /** Last in the chain of bodies with unknown inflated size, which are inflated one at a time. */
  #inflating: Promise<void> = Promise.resolve()
  /** HTTP connections, without those that became WebSockets. */
  readonly #connections = new Map<Socket, Connection>()
  #open = 0
  #lastUsedMs = -Infinity

  constructor(options: HttpServerOptions) {
    this.#options = options
    const { keepAliveMs, announcedMs, headersMs, requestMs, checkMs, stalledMs } =
      options.timeouts ?? httpTimes
    const keepAliveTimeout = Math.min(announcedMs, keepAliveMs)
    const { budget, clients } = options
    this.#settings = { stalledMs, budget, clients, isDraining: false }
    this.#server = createServer({
      keepAliveTimeout,
      keepAliveTimeoutBuffer: keepAliveMs - keepAliveTimeout,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: clientLimits.headBytes,
      // Other upgrade requests are served as plain requests.
      shouldUpgradeCallback: (request) => options.sockets?.accepts(request) ?? false,
    })
    this.#doors = new ReusePortListeners(this.#server, true, options.observer)
    // Node drops further headers. One above the limit suffices to refuse the request.
    this.#server.maxHeadersCount = clientLimits.headers + 1
    this.#server
      .on('connection', (socket) => this.#connected(socket))
      .on('request', (request, response) => this.#receive(request, response))
      .on('checkContinue', (request, response) => this.#receive(request, response, true))
      .on('upgrade', (request, wire, head) => {
        // Node stops handling errors of an upgraded socket; an unhandled one ends the process.
        wire.on('error', () => {})
        // The client would read answers to earlier requests as WebSocket frames.
        if (this.#connections.get(request.socket)?.inFlight) return void wire.destroy()
        this.#connections.delete(request.socket)
        options.sockets?.upgrade(request, wire, head)
      })
      .on('clientError', (error: NodeJS.ErrnoException, socket) =>
        this.#refuseBytes(error, socket as Socket),
      )
  }

  get isServing(): boolean {
    const { sockets } = this.#options
    return (
      [...this.#connections.values()].some((each) => each.hasUnanswered) || !!sockets?.isServing
    )
  }

  start(): Promise<Address> {
    return this.#doors.open(this.#options.address, this.#options.isShared)
  }

  async drain(): Promise<void> {
    const { clock, sockets } = this.#options
    this.#settings.isDraining = true
    sockets?.leave()
    const isQuiet = () => clock.nowMs() - this.#lastUsedMs > drainQuietMs
    await until(clock, () => isQuiet() && this.#isEmpty)
  }

  async settle(): Promise<void> {
    const { clock, sockets } = this.#options
    this.#settings.isDraining = true
    void this.#doors.close()
    sockets?.settle()
    await until(clock, () => this.#isEmpty)
  }

  async close(): Promise<void> {
    const { clock, sockets } = this.#options
    this.#settings.isDraining = true
    // Ends the socket rather than destroying it, so that a request in transit causes no reset.
    for (const [socket, { inFlight }] of this.#connections) if (inFlight === 0) socket.end()
    sockets?.settle()
    await until(clock, () => this.#open === 0, closeGraceMs)
    sockets?.terminate()
    const end = this.#doors.close()
    // This also stops the server's timeout checks.
    this.#server.close()
    this.#server.closeAllConnections()
    await end
    // Node closes the server before its connections, but calls must end before the upstreams close.
    await until(clock, () => this.#open === 0, closeGraceMs)
  }

  get #isEmpty(): boolean {
    return this.#connections.size === 0 && !this.#options.sockets?.size
  }

  #connected(socket: Socket): void {
    const connection = new Connection(socket, this.#options.budget)
    this.#connections.set(socket, connection)
    this.#changed(1)
    socket.once('close', () => {
      connection.finish()
      this.#connections.delete(socket)
      this.#changed(-1)
    })
  }

  #changed(by: number): void {
    this.#open += by
    this.#lastUsedMs = this.#options.clock.nowMs()
    this.#options.observer.connectionsChanged(this.#open)
  }

  #count(connection: Connection, by: number): void {
    connection.inFlight += by
    this.#lastUsedMs = this.#options.clock.nowMs()
  }

  /** @param isAsking the client waits for 100 Continue before it sends the body */
  #receive(request: IncomingMessage, response: ServerResponse, isAsking = false): void {
    const { socket } = request
    // RFC 9112, 9.6: no request is processed after a close, so that its client can repeat it.
    if (socket.writableEnded) return void request.resume()
    const connection = this.#connections.get(socket) ?? new Connection(socket, this.#options.budget)
    connection.newest = request
    this.#count(connection, 1)
    if (connection.inFlight === 1) return this.#serve(request, response, connection, isAsking)
    connection.wait(headCost(request.rawHeaders), () =>
      this.#serve(request, response, connection, isAsking),
    )
  }

  #serve(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    isAsking: boolean,
  ): void {
    const { handler, maxRequestBytes } = this.#options
    const exchange = new HttpExchange(request, response, this.#settings)
    const { fault, contentLength, heldBytes } = exchange.head
    const upload = new Upload(exchange, this.#options)
    response.on('close', () => {
      this.#count(connection, -1)
      upload.finish()
      exchange.closed()
      connection.serveNext()
    })
    // Bytes after an ambiguous head may belong to another request.
    if (fault || contentLength > maxRequestBytes) {
      request.resume()
      return this.#refuse(fault ?? tooLarge(maxRequestBytes), request.socket)
    }
    if (isAsking) response.writeContinue()
    upload.hold(heldBytes)
    upload.waits()
    // Drain the rest of a refused body. Closing while the client still sends would reset the
    // connection, and the client might never read the answer.
    request
      .on('data', (piece: Buffer) => {
        upload.push(piece)
        if (!upload.isTiny) return
        this.#refuseBytes({ code: tinyPiecesCode }, request.socket)
        request.socket.destroySoon()
      })
      .on('end', () => {
        upload.waits(0)
        if (upload.refusal) return exchange.answer(handler.refuse(upload.refusal, exchange))
        exchange.body = upload.bytes
        const { contentEncoding } = exchange.head
        if (contentEncoding === null) this.#hand(exchange)
        else this.#inflating = this.#inflating.then(() => this.#decode(exchange, contentEncoding))
      })
  }

  #hand(exchange: HttpExchange): void {
    const { handler, budget } = this.#options
    const { length } = exchange.body
    const serve = () => {
      if (!exchange.gone) handler.serve(exchange)
    }
    if (length <= budgetLimits.shortBytes) budget.turns.together(serve)
    else budget.turns.run(length, serve)
  }

  async #decode(exchange: HttpExchange, coding: string): Promise<void> {
    const { handler } = this.#options
    if (exchange.gone) return
    try {
      const body = await decodeBody(coding, exchange.body, this.#options)
      exchange.hold(body.length)
      exchange.body = body
    } catch (error) {
      return exchange.answer(handler.refuse(error as RelayError, exchange))
    }
    this.#hand(exchange)
  }

  /** Answers bytes that are not an HTTP request, or that arrived too slowly. */
  #refuseBytes({ code }: { readonly code?: string }, socket: Socket): void {
    // The answer was already sent; further bytes are ignored.
    if (socket.writableEnded) return
    const connection = this.#connections.get(socket)
    // The client would take this for the answer to an earlier request.
    if (!connection || !socket.writable || connection.hasUnanswered) {
      socket.destroy()
      return
    }
    const [kind, message] = refusals[code ?? ''] ?? notHttp
    this.#refuse(new RelayError(kind, message), socket)
  }

  /** Answers early, and discards the rest for a moment so that the client reads the answer. */
  #refuse(error: RelayError, socket: Socket): void {
    const { clock, handler, clients } = this.#options
    const client = clients.client(socket.remoteAddress, [], '')
    socket.end(rawAnswer(handler.refuse(error, client)))
    clock.after(clientLimits.lingerMs, () => socket.destroy())
  }
}

function rawAnswer({ status, headers, body }: HttpAnswer): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  lines.push(`Content-Length: ${body.length}`, 'Connection: close', '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body])
}
