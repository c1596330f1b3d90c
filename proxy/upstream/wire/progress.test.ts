// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import net from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { systemClock as clock } from '../../clock/clock.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import { createGrpcTransport } from './grpc/grpc-transport.ts'
import { createHttpTransport } from './http/http-transport.ts'
import { createWebSocketTransport } from './ws/ws-transport.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function listen(server: Server | http2.Http2Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const wires = {
  http: (url: string) =>
    createHttpTransport(nodeUrlConfig(url), { clock, budget: new ByteBudget(1e6) }),
  grpc: (url: string) =>
    createGrpcTransport(nodeUrlConfig(url), { clock, budget: new ByteBudget(1e6) }),
  ws: (url: string) =>
    createWebSocketTransport(nodeUrlConfig(url), { clock, subscriptionsPerConnection: 1 }),
}

/** A server that accepts connections and sends nothing. */
const silent = () => listen(net.createServer())
const mute = () => listen(http.createServer(() => {}))
const stalls = () =>
  listen(http.createServer((_, response) => void response.writeHead(200).write('{"jso')))
const muteGrpc = () => listen(http2.createServer(() => {}))
const stallsGrpc = () =>
  listen(
    http2.createServer((_, response) => {
      response.stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    }),
  )
const muteSocket = async () => {
  const server = http.createServer()
  const sockets = new WebSocketServer({ server })
  open.push(() => sockets.close())
  return listen(server)
}

test.each([
  ['a node that accepts no handshake', 'https', silent, 'no connection was there yet'],
  ['a node that sends nothing', 'http', mute, 'no headers had come'],
  ['a body that stops', 'http', stalls, 'headers had come (HTTP 200), then 5 bytes'],
  ['gRPC without any answer', 'grpc', muteGrpc, 'no headers had come'],
  ['gRPC without its message', 'grpc', stallsGrpc, 'headers had come (HTTP 200), then 0'],
  ['an upgrade without an answer', 'ws', mute, 'no connection was there yet'],
  ['a WebSocket that is silent', 'ws', muteSocket, 'nothing came over the open WebSocket'],
] as const)('%s: its progress is known when the wait ends', async (_, scheme, serve, words) => {
  const url = `${scheme}://127.0.0.1:${await serve()}`
  const transport = wires[scheme === 'https' ? 'http' : scheme](url)
  const cancellation = new Cancellation()
  const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m"}')
  const awaitsMessage = scheme === 'grpc'
  const sent = transport.send(
    { verb: 'POST', path: '/', headers: [], body, awaitsMessage },
    cancellation,
  )
  await vi.waitFor(() => expect(cancellation.progress).toContain(words))
  cancellation.abort()
  await expect(sent).rejects.toMatchObject({ fault: 'aborted' })
  await transport.close()
})
