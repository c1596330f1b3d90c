// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createSecureServer } from 'node:http2'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createAuthority } from '../../proxy/upstream/testing/certificates.ts'
import { systemClock } from './clock.ts'
import type { Cluster } from './cluster.ts'
import { Transport } from './transport.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** Starts an API server that prefers HTTP/2, and answers with the version of the request. */
async function apiServer(): Promise<Cluster> {
  const authority = await createAuthority('test authority')
  const server = createSecureServer(
    { ...(await authority.issue('localhost')), allowHTTP1: true },
    (request, response) => {
      request.resume()
      request.on('end', () => response.end(request.httpVersion))
    },
  )
  return {
    server: `https://localhost:${await listen(server)}`,
    podNamespace: null,
    credentials: () => Promise.resolve({ headers: {}, tls: { ca: authority.cert } }),
  }
}

/** Starts an HTTP proxy that supports CONNECT. */
async function tunnel(): Promise<string> {
  const server = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (head) => {
      const port = Number(/^CONNECT localhost:(\d+) /.exec(head.toString())?.[1])
      const target = connect(port, 'localhost', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(target).pipe(client)
      })
      target.on('error', () => client.destroy())
    })
  })
  return `http://127.0.0.1:${await listen(server)}`
}

test.each([
  ['directly', false],
  ['through a proxy', true],
])('speaks HTTP/1.1 %s', async (_, isProxied) => {
  const cluster = await apiServer()
  const way = isProxied ? { proxyUrl: await tunnel() } : {}
  const transport = new Transport({
    cluster: { ...cluster, ...way },
    clock: systemClock,
    userAgent: 'test',
  })
  cleanups.push(() => transport.close())
  const request = { method: 'PUT', path: '/', headers: {}, body: '{}' } as const
  const answer = await transport.send(request, new AbortController().signal)
  const pieces: Uint8Array[] = []
  for await (const piece of answer.body) pieces.push(piece)
  expect(Buffer.concat(pieces).toString()).toBe('1.1')
})
