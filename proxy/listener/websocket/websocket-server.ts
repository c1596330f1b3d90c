// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer as Upgrader } from 'ws'
import { clientLimits, socketTimes } from '../../bytes/limits.ts'
import type { Cancel } from '../../clock/clock.ts'
import { Calls } from '../calls.ts'
import type { Directives } from '../../relay/call.ts'
import { RelayError } from '../../relay/errors.ts'
import { readDirectives } from '../directives.ts'
import { forwardHeaders } from '../headers.ts'
import { isOriginAllowed, readHead } from '../request-head.ts'
import { ownHeaders } from '../jsonrpc/jsonrpc-call.ts'
import type { JsonRpcServing } from '../jsonrpc/jsonrpc-items.ts'
import { errorBytes } from '../jsonrpc/jsonrpc-request.ts'
import type { ListenerOptions } from '../listener.ts'
import { JsonRpcConnection } from './jsonrpc-connection.ts'
import { ClientSocket, closeCodes } from './client-socket.ts'

/** Interval between checks of all sockets. */
const checkMs = 15_000
/** A client that is silent for this long gets a ping. */
const quietMs = 30_000
const { messageMs, silentMs } = socketTimes

/** JSON-RPC on the WebSockets of one HTTP server: how they open, stay alive, and close. */
export class WebSocketServer {
  /** Shared by all connections, because there are thousands and each must be small. */
  readonly #serving: JsonRpcServing
  readonly #paths: readonly string[]
  readonly #upgrader: Upgrader
  readonly #connections = new Map<ClientSocket, JsonRpcConnection>()
  #cancelCheck: Cancel | null = null
  #isLeaving = false

  /** @param paths WebSocket paths in addition to the chain's internal paths */
  constructor(options: ListenerOptions, paths: readonly string[]) {
    this.#serving = { ...options, calls: new Calls(options) }
    this.#paths = [...paths, ...options.iface.internalPaths]
    const { maxMessageBytes } = options.socketLimits
    const { fragments } = clientLimits
    this.#upgrader = new Upgrader({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: maxMessageBytes,
      maxFragments: fragments.count + Math.ceil(maxMessageBytes / fragments.bytes),
    })
  }

  get isServing(): boolean {
    return [...this.#connections.values()].some(({ isServing }) => isServing)
  }

  get size(): number {
    return this.#connections.size
  }

  /** Whether a request can become a WebSocket here. */
  accepts(request: IncomingMessage): boolean {
    const { url = '', headers } = request
    // As for any request, rejects URL fragments, ambiguous heads and foreign page origins.
    if (headers.upgrade?.toLowerCase() !== 'websocket' || url.includes('#')) return false
    const head = readHead(request)
    if (head.fault || !isOriginAllowed(head, this.#serving.allowedOrigins)) return false
    return this.#paths.includes(pathOf(url))
  }

  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    const { version, newGuid, observer, clients } = this.#serving
    const guid = newGuid()
    const own = [`Router-Version: ${version}`, `Rpc-Guid: ${guid}`]
    if (this.#isLeaving) return refuse(wire, '503 Service Unavailable', own)
    const directives = readDirectives(request.rawHeaders)
    if (directives instanceof RelayError) {
      const path = pathOf(request.url ?? '')
      const client = clients.client(request.socket.remoteAddress, request.rawHeaders, path)
      observer.requestRefused(directives, guid, client)
      return refuse(wire, '400 Bad Request', own, errorBytes(directives, guid))
    }
    this.#upgrader.once('headers', (headers: string[]) => void headers.push(...own))
    this.#upgrader.handleUpgrade(request, wire, head, (socket) =>
      this.#open(new ClientSocket(socket, wire, this.#serving), request, { guid, directives }),
    )
    // A failed handshake does not remove the handler.
    this.#upgrader.removeAllListeners('headers')
  }

  /** Closes each client once it has its answers. */
  leave(): void {
    this.#isLeaving = true
    for (const connection of this.#connections.values()) connection.leave()
  }

  settle(): void {
    this.#isLeaving = true
    for (const connection of this.#connections.values()) connection.settle()
  }

  /** Cuts the remaining connections. */
  terminate(): void {
    this.#cancelCheck?.()
    for (const { ws } of this.#connections.keys()) ws.terminate()
  }

  /** Directives and headers of the upgrade request apply to every call. */
  #open(
    socket: ClientSocket,
    request: IncomingMessage,
    call: { readonly guid: string; readonly directives: Directives },
  ): void {
    const { url = '', rawHeaders } = request
    const { iface, observer, clients } = this.#serving
    const path = pathOf(url)
    const client = clients.client(request.socket.remoteAddress, rawHeaders, path)
    const connection = new JsonRpcConnection(socket, this.#serving, {
      ...call,
      client,
      subscriber: clients.isDistinct ? client.address : call.guid,
      internalPath: iface.internalPaths.has(path) ? path : '',
      requestHeaders: forwardHeaders(rawHeaders, iface.requestHeaders, ownHeaders),
    })
    this.#connections.set(socket, connection)
    observer.socketsChanged(this.size)
    const closed = () => {
      this.#connections.delete(socket)
      observer.socketsChanged(this.size)
      connection.closed()
    }
    socket.serve((message) => connection.received(message), closed)
    this.#checkLater()
  }

  #checkLater(): void {
    this.#cancelCheck ??= this.#serving.clock.after(checkMs, () => {
      this.#cancelCheck = null
      if (this.size === 0) return
      this.#check()
      this.#checkLater()
    })
  }

  #check(): void {
    const { clock, socketLimits } = this.#serving
    const { idleTimeoutMs } = socketLimits
    const nowMs = clock.nowMs()
    for (const [socket, { isIdle }] of this.#connections) {
      const silentForMs = nowMs - socket.receivedMs
      const { unfinished } = socket
      // The message on a paused socket is not late: the router itself stopped reading.
      if (socket.ws.isPaused) unfinished.sinceMs &&= nowMs
      else if (nowMs - (unfinished.sinceMs ?? nowMs) >= messageMs)
        socket.close(closeCodes.notWhole, `a message was not complete in ${messageMs / 1_000} s`)
      else if (silentForMs >= silentMs) socket.ws.terminate()
      else if (isIdle && idleTimeoutMs !== null && nowMs - socket.usedMs >= idleTimeoutMs)
        socket.close(closeCodes.idle, 'the connection was idle too long')
      else if (silentForMs >= quietMs) socket.ping()
    }
  }
}

/** Answers a handshake with an error, and ends the connection. */
function refuse(wire: Duplex, status: string, own: string[], body: Uint8Array = Buffer.of()): void {
  const type = body.length > 0 ? ['Content-Type: application/json'] : []
  const head = [...own, ...type, `Content-Length: ${body.length}`, 'Connection: close']
  wire.write(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n`)
  wire.end(body, () => wire.destroy())
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string
}
