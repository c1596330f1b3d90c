// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'

const specSources = [new URL('mirror.yml', import.meta.url).pathname]
const mebibyte = 1024 * 1024
const uploadBytes = 8 * mebibyte

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A router in front of one node that answers as it likes while an upload comes in. */
async function served(answer: Answer, settings: Record<string, unknown> = {}) {
  const stack = new AsyncDisposableStack()
  const server = createServer((incoming, response) => {
    // What the router asks itself.
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
      settings,
    }),
  )
  const [upstream] = router.pool.upstreams
  return { router, upstream: upstream!, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function upload(url: string, headers: Record<string, string> = {}) {
  const length = { 'content-length': String(uploadBytes) }
  return request(`${url}/odd`, { method: 'POST', headers: { ...length, ...headers } })
}

test('a client that leaves half way ends the upload at the node, which is not blamed', async () => {
  let arrivedBytes = 0
  let ended: string | null = null
  await using own = await served((incoming) => {
    incoming.on('data', (piece: Buffer) => (arrivedBytes += piece.length))
    incoming.on('end', () => (ended = 'whole'))
    incoming.on('close', () => (ended ??= 'cut'))
  })
  for (let at = 0; at < 5; at++) {
    arrivedBytes = 0
    ended = null
    const client = upload(own.router.url).on('error', () => {})
    client.write(Buffer.alloc(4 * mebibyte))
    await expect.poll(() => arrivedBytes).toBe(4 * mebibyte)
    client.destroy()
    await expect.poll(() => ended).toBe('cut')
  }
  expect(own.upstream.sessions).toBe(0)
  expect(own.router.pool.hasEligible).toBe(true)
})

test('an answer before the end of the upload reaches the client', async () => {
  await using own = await served((_, response) => {
    response.writeHead(413, { 'content-type': 'application/json' })
    response.end('{"message":"too large","error_code":"web_framework_error"}')
  })
  const client = upload(own.router.url).on('error', () => {})
  client.write(Buffer.alloc(mebibyte))
  const response = await new Promise<IncomingMessage>((resolve) => client.on('response', resolve))
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  expect(response.statusCode).toBe(413)
  expect(Buffer.concat(pieces).toString()).toContain('web_framework_error')
  client.destroy()
  await expect.poll(() => own.upstream.sessions).toBe(0)
  expect(own.router.pool.hasEligible).toBe(true)
})

test('a node that does not read stops the client', async () => {
  const wholeBytes = 96 * mebibyte
  await using own = await served((incoming) => void incoming.pause(), {
    'max-request-bytes': wholeBytes,
    'default-processing-timeout': '3s',
  })
  let writtenBytes = 0
  const client = upload(own.router.url, { 'content-length': String(wholeBytes) })
  const piece = Buffer.alloc(64 * 1024)
  const write = () => {
    while (!client.destroyed && writtenBytes < wholeBytes) {
      writtenBytes += piece.length
      if (!client.write(piece)) return void client.once('drain', write)
    }
  }
  write()
  let before = 0
  const stands = () => {
    const isStill = before === writtenBytes && writtenBytes > 0
    before = writtenBytes
    return isStill
  }
  await expect.poll(stands, { interval: 300, timeout: 10_000 }).toBe(true)
  // What the sockets of two hops hold on loopback.
  expect(writtenBytes).toBeLessThan(wholeBytes / 2)
  client.on('error', () => {}).destroy()
  // That a client has left is not heard while nothing is read of it; the time of the call is the end.
  await expect.poll(() => own.upstream.sessions, { timeout: 8_000 }).toBe(0)
  expect(own.router.pool.hasEligible).toBe(true)
})

test('a client that sends slowly has its own time, and the node is not late for it', async () => {
  await using own = await served((incoming, response) => {
    incoming.resume().on('end', () => response.end('{}'))
  })
  const client = upload(own.router.url)
  client.write(Buffer.alloc(uploadBytes - 1))
  // Longer than the attempt may take once all is sent.
  setTimeout(() => client.end(Buffer.alloc(1)), 1_800)
  const response = await new Promise<IncomingMessage>((resolve) => client.on('response', resolve))
  response.resume()
  expect(response.statusCode).toBe(200)
  expect(response.headers['rpc-errored-providers']).toBeUndefined()
})

test('a client that asks first is told to go on', async () => {
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
