// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'

const specSources = [new URL('mirror.yml', import.meta.url).pathname]
const mebibyte = 1024 * 1024
const uploadBytes = 8 * mebibyte

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A router in front of one node, which may answer during an upload. */
async function served(answer: Answer) {
  const stack = new AsyncDisposableStack()
  const server = createServer((incoming, response) => {
    // Answers the router's own requests.
    if (incoming.method === 'GET') response.end('{}')
    else answer(incoming, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const node = { name: 'node', url: `http://127.0.0.1:${port}` }
  const router = stack.use(
    await serveRouter({
      chainId: 'MIRROR',
      apiInterface: 'rest',
      specSources,
      primaries: [node],
    }),
  )
  const [upstream] = router.pool.upstreams
  return { router, upstream: upstream!, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function upload(url: string, headers: Record<string, string> = {}) {
  const length = { 'content-length': String(uploadBytes) }
  return request(`${url}/odd`, { method: 'POST', headers: { ...length, ...headers } })
}

test('an aborted upload reaches no node', async () => {
  let requests = 0
  await using own = await served(() => (requests += 1))
  const client = upload(own.router.url).on('error', () => {})
  await new Promise((resolve) => client.write(Buffer.alloc(4 * mebibyte), resolve))
  client.destroy()
  await sleep(100)
  expect([requests, own.upstream.usedSlots, own.router.pool.hasEligible]).toEqual([0, 0, true])
})

test('a slow upload does not count as latency of the node', async () => {
  await using own = await served((incoming, response) => {
    incoming.resume().on('end', () => response.end('{}'))
  })
  const client = upload(own.router.url)
  client.write(Buffer.alloc(uploadBytes - 1))
  // Takes longer than the limit of an attempt after the upload.
  setTimeout(() => client.end(Buffer.alloc(1)), 1_800)
  const response = await new Promise<IncomingMessage>((resolve) => client.on('response', resolve))
  response.resume()
  expect(response.statusCode).toBe(200)
  expect(response.headers['rpc-errored-providers']).toBeUndefined()
})

test('a client with `Expect: 100-continue` gets status 100', async () => {
  let arrivedBytes = 0
  await using own = await served((incoming, response) => {
    expect(incoming.headers['expect']).toBeUndefined()
    incoming.on('data', (piece: Buffer) => (arrivedBytes += piece.length))
    incoming.on('end', () => response.end('{}'))
  })
  const client = upload(own.router.url, { expect: '100-continue' })
  client.flushHeaders()
  await new Promise((resolve) => client.once('continue', resolve))
  client.end(Buffer.alloc(uploadBytes))
  const response = await new Promise<IncomingMessage>((resolve) => client.on('response', resolve))
  response.resume()
  expect([response.statusCode, arrivedBytes]).toEqual([200, uploadBytes])
})
