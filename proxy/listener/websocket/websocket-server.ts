// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer as Upgrader } from 'ws'
import type { Cancel, Clock } from '../../clock/clock.ts'
import type { HeaderList } from '../../upstream/wire.ts'
import type { ListenerOptions } from '../listener.ts'

/** How often the sockets are looked at. */
const checkMs = 15_000
/** One that has said nothing for so long is sent a ping ... */
const quietMs = 30_000
/** ... and is gone when it has not even answered that. */
const silentMs = 75_000
/** What a client gets to answer a goodbye, and to read what is left. */
const closeTimeoutMs = 5_000

/** Why the router closes a WebSocket (RFC 6455, 7.4.1, and its registry). */
export const closeCodes = {
  /** Nothing was asked for a long time. */
  idle: 1000,
  /** The router stops. */
  goingAway: 1001,
  /** The client does not read, and what it is owed is not kept. */
  notRead: 1008,
  /** An answer broke off when a part of it was on its way. */
  brokenOff: 1011,
  /** A subscription cannot go on without a hole. */
  tryAgain: 1013,
} as const

/** What is done with one WebSocket. */
export interface SocketHandler {
  received(message: Uint8Array): void
  /** It is over, whoever ended it. */
  closed(): void
  /** Calls wait for their answers. */
  readonly isServing: boolean
  /** Nobody would miss it: no calls, no subscriptions. */
  readonly isIdle: boolean
  /** Says goodbye as soon as every call is answered. */
  leave(): void
  /** What is asked from now on is not answered. */
  settle(): void
}

/** What is served on the WebSockets of a listener. */
export interface SocketServing {
  /** Paths that can be upgraded. */
  readonly paths: readonly string[]
  /** A client came to one of the paths, with these headers. `guid` names the connection. */
  open(socket: ClientSocket, path: string, headers: HeaderList, guid: string): SocketHandler
}

/** One WebSocket of a client. */
export type ClientSocket = Pick<
  WebSocketClient,
  'bufferedBytes' | 'send' | 'onceDrained' | 'pause' | 'resume' | 'close'
>

type WebSocketServerOptions = SocketServing & ListenerOptions

/** The WebSockets of one HTTP server: how they come to be, stay alive, and end. */
export class WebSocketServer {
  readonly #options: WebSocketServerOptions
  readonly #upgrader: Upgrader
  readonly #clients = new Map<WebSocketClient, SocketHandler>()
  #cancelCheck: Cancel | null = null
  #isLeaving = false

  constructor(options: WebSocketServerOptions) {
    this.#options = options
    this.#upgrader = new Upgrader({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.socketLimits.maxMessageBytes,
    })
  }

  get isServing(): boolean {
    return [...this.#clients.values()].some(({ isServing }) => isServing)
  }

  get size(): number {
    return this.#clients.size
  }

  /** Whether a request can become a WebSocket here. */
  takes({ url = '', headers }: IncomingMessage): boolean {
    // One with a fragment is refused as any request.
    if (headers.upgrade?.toLowerCase() !== 'websocket' || url.includes('#')) return false
    return this.#options.paths.includes(pathOf(url))
  }

  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    if (this.#isLeaving) {
      const refusal = 'HTTP/1.1 503 Service Unavailable'
      wire.end(`${refusal}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => wire.destroy())
      return
    }
    const { version, newGuid, clock } = this.#options
    const guid = newGuid()
    this.#upgrader.once('headers', (headers: string[]) => {
      headers.push(`Router-Version: ${version}`, `Rpc-Guid: ${guid}`)
    })
    this.#upgrader.handleUpgrade(request, wire, head, (socket) => {
      this.#open(new WebSocketClient(socket, wire, clock), request, guid)
    })
    // A handshake that failed has used it for nothing.
    this.#upgrader.removeAllListeners('headers')
  }

  /** Says goodbye to every client once it has its answers. Resolves as `isServing` tells. */
  leave(): void {
    this.#isLeaving = true
    for (const handler of this.#clients.values()) handler.leave()
  }

  settle(): void {
    this.#isLeaving = true
    for (const handler of this.#clients.values()) handler.settle()
  }

  /** Cuts what is left. */
  terminate(): void {
    this.#cancelCheck?.()
    for (const client of this.#clients.keys()) client.terminate()
  }

  #open(client: WebSocketClient, { url = '', rawHeaders }: IncomingMessage, guid: string): void {
    const { open, observer } = this.#options
    const handler = open(client, pathOf(url), rawHeaders, guid)
    this.#clients.set(client, handler)
    observer.socketsChanged(this.#clients.size)
    client.serve(handler, () => {
      this.#clients.delete(client)
      observer.socketsChanged(this.#clients.size)
    })
    this.#checkLater()
  }

  #checkLater(): void {
    this.#cancelCheck ??= this.#options.clock.after(checkMs, () => {
      this.#cancelCheck = null
      if (this.#clients.size === 0) return
      this.#check()
      this.#checkLater()
    })
  }

  #check(): void {
    const { clock, socketLimits } = this.#options
    const { idleTimeoutMs } = socketLimits
    const nowMs = clock.nowMs()
    for (const [client, { isIdle }] of this.#clients) {
      const silentForMs = nowMs - client.heardMs
      if (client.isPaused) continue
      if (silentForMs >= silentMs) client.terminate()
      else if (isIdle && idleTimeoutMs !== null && nowMs - client.usedMs >= idleTimeoutMs)
        client.close(closeCodes.idle, 'nothing was asked for a long time')
      else if (silentForMs >= quietMs) client.ping()
    }
  }
}

/** One client on the library's socket. Once it is closed, what is sent is dropped. */
class WebSocketClient {
  readonly #socket: WebSocket
  readonly #wire: Duplex
  readonly #clock: Clock
  /** When it last gave a sign of life. */
  heardMs: number
  /** When it last sent a message. */
  usedMs: number
  #isClosing = false

  constructor(socket: WebSocket, wire: Duplex, clock: Clock) {
    this.#socket = socket
    this.#wire = wire
    this.#clock = clock
    this.heardMs = this.usedMs = clock.nowMs()
  }

  serve(handler: SocketHandler, closed: () => void): void {
    const heard = () => {
      this.heardMs = this.#clock.nowMs()
    }
    this.#socket
      .on('message', (message: Buffer) => {
        heard()
        if (this.#isClosing) return
        this.usedMs = this.heardMs
        handler.received(message)
      })
      .on('ping', heard)
      .on('pong', heard)
      // The library closes it with the code that says what is wrong.
      .on('error', heard)
      .on('close', () => {
        closed()
        handler.closed()
      })
  }

  /** Bytes that the client's machine has not taken. */
  get bufferedBytes(): number {
    return this.#wire.writableLength
  }

  get isPaused(): boolean {
    return this.#socket.isPaused
  }

  /**
   * Sends a message, or a part of one, until whose last part nothing else may be sent. Nobody may
   * change its bytes afterwards.
   * @returns false when it is time to wait until it is drained
   */
  send(bytes: Uint8Array, isLast = true): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return true
    this.#socket.send(bytes, { binary: false, fin: isLast })
    return !this.#wire.writableNeedDrain
  }

  /** Runs once, when all was taken. Not when it is closed before. */
  onceDrained(run: () => void): void {
    this.#wire.once('drain', run)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** @param reason of at most 123 bytes */
  close(code: number, reason: string): void {
    this.#isClosing = true
    this.#socket.close(code, reason)
    // The answer to the goodbye may stand behind what is not read.
    this.#socket.resume()
    this.#clock.after(closeTimeoutMs, () => {
      this.terminate()
    })
  }

  ping(): void {
    this.#socket.ping()
  }

  terminate(): void {
    this.#socket.terminate()
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string
}
