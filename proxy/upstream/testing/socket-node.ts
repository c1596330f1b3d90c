// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'

/** A parsed request. */
export interface NodeRequest {
  readonly id: number
  readonly method: string
  readonly params?: unknown
}

/** A WebSocket server on loopback with a scripted reaction to each message. */
export interface SocketNode extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Open connections in order of arrival. */
  readonly connections: readonly WebSocket[]
  /** Upgrade requests in order of arrival. */
  readonly upgrades: readonly IncomingMessage[]
  /** Received messages as text. */
  readonly received: readonly string[]
}

export interface SocketNodeOptions {
  readonly answer?: (request: NodeRequest, socket: WebSocket, wire: Duplex) => void
  readonly tls?: https.ServerOptions
  /** Rejects upgrades with this status. */
  readonly status?: number
  /** `Retry-After` of the rejection. */
  readonly retryAfter?: string
  readonly port?: number
}

/** Returns the method's name. */
export function echo({ id, method }: NodeRequest, socket: WebSocket): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: method }))
}

export async function startSocketNode(options: SocketNodeOptions = {}): Promise<SocketNode> {
  const { answer = echo, tls, status, retryAfter } = options
  const server = tls ? https.createServer(tls) : http.createServer()
  const sockets = new WebSocketServer({ noServer: true })
  const connections: WebSocket[] = []
  const upgrades: IncomingMessage[] = []
  const received: string[] = []
  server.on('upgrade', (request, socket, head) => {
    upgrades.push(request)
    if (status !== undefined) {
      const wait = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`
      socket.end(`HTTP/1.1 ${status} No\r\n${wait}Content-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      connections.push(connection)
      connection.on('error', () => undefined)
      connection.on('close', () => connections.splice(connections.indexOf(connection), 1))
      connection.on('message', (data: Buffer) => {
        received.push(data.toString())
        answer(JSON.parse(data.toString()) as NodeRequest, connection, socket)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls ? 'wss' : 'ws'}://${tls ? 'localhost' : '127.0.0.1'}:${port}`,
    connections,
    upgrades,
    received,
    async [Symbol.asyncDispose]() {
      for (const connection of [...connections]) connection.terminate()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
