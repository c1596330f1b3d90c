// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveRouter, uncached, type ServedRouter } from '../served/served-router.ts'
import { EchoClient, seenOf } from './echo-client.ts'
import { EchoServer, type echoService } from './echo-server.ts'

const specSources = [new URL('echo.yml', import.meta.url).pathname]

function serve(nodes: readonly EchoServer[], settings: Record<string, unknown> = {}) {
  return serveRouter({
    chainId: 'ECHO',
    apiInterface: 'grpc',
    specSources,
    primaries: nodes.map(({ port }, at) => ({
      name: `node-${at}`,
      url: `grpc://127.0.0.1:${port}`,
    })),
    settings: { ...uncached, ...settings },
  })
}

let node: EchoServer
let router: ServedRouter

beforeAll(async () => {
  node = await new EchoServer().start()
  router = await serve([node])
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await node[Symbol.asyncDispose]()
})

describe('a call through the router equals a direct call', () => {
  const some = new Metadata()
  some.set('x-echo-initial', 'hello')
  some.add('x-echo-initial', 'again')
  some.set('x-echo-initial-bin', Buffer.from([0, 255, 1]))
  some.set('x-echo-trailing', 'bye')
  some.set('x-echo-trailing-bin', Buffer.from([1, 2, 254]))
  const none = new Metadata()
  const cases: [string, keyof typeof echoService, (string | Buffer)[], Metadata][] = [
    ['unary', 'Unary', ['hi'], none],
    ['unary with metadata of both kinds', 'Unary', ['hi'], some],
    ['an empty message', 'Unary', [''], none],
    ['a message of 5 MB', 'Unary', [Buffer.alloc(5_000_000, 7)], none],
    ['many messages from the node', 'Down', ['1000'], some],
    ['no message from the node', 'Down', ['0'], some],
    ['many messages from the client', 'Up', Array.from({ length: 500 }, () => 'abc'), none],
    ['no message from the client', 'Up', [], none],
    [
      '3 MB from the client in pieces',
      'Up',
      Array.from({ length: 30 }, () => Buffer.alloc(1e5)),
      none,
    ],
    ['messages in both directions', 'Both', ['1', '', '333'], some],
    ['a failure after a message', 'FailLater', ['x'], none],
  ]
  test.each(cases)('%s', async (_, name, sent, metadata) => {
    using straight = new EchoClient(node.port)
    using routed = new EchoClient(router.port)
    expect(await routed.run(name, sent, metadata)).toEqual(await straight.run(name, sent, metadata))
  })
})

// Some of these start a cooldown of the node, so each has a separate router.
test.each(Array.from({ length: 16 }, (_, at) => at + 1))(
  'status %i is forwarded with its message and its metadata',
  async (code) => {
    await using lone = await serve([node], { 'set-relay-retry-limit': 0 })
    const words = [JSON.stringify([code, `nöt % \n✓`])]
    using straight = new EchoClient(node.port)
    using routed = new EchoClient(lone.port)
    const expected = await straight.run('Fail', words, new Metadata())
    expect(expected.code).toBe(code)
    expect(await routed.run('Fail', words, new Metadata())).toEqual(expected)
  },
)

test('messages pass in both directions one by one, each in answer to the previous one', async () => {
  using client = new EchoClient(router.port)
  const stream = client.open('Both', new Metadata())
  const seen: string[] = []
  for (const word of ['a', 'b', 'c', 'd']) {
    stream.write(Buffer.from(word))
    seen.push(
      await new Promise((resolve) => stream.once('data', (piece) => resolve(String(piece)))),
    )
  }
  stream.end()
  expect(seen).toEqual(['a', 'b', 'c', 'd'])
  expect(await seenOf(stream)).toMatchObject({ code: status.OK })
})

test('a client may send for longer than an attempt lasts', async () => {
  using client = new EchoClient(router.port)
  const stream = client.open('Up', new Metadata())
  stream.write(Buffer.from('abc'))
  setTimeout(() => {
    stream.write(Buffer.from('de'))
    stream.end()
  }, 1_800)
  expect(await seenOf(stream)).toMatchObject({ code: status.OK, messages: ['5'] })
})

test('the cancellation of a client reaches the node', async () => {
  using client = new EchoClient(router.port)
  const before = node.cancelled
  const stream = client.open('Both', new Metadata())
  stream.write(Buffer.from('x'))
  await new Promise((resolve) => stream.once('data', resolve))
  stream.cancel()
  expect(await seenOf(stream)).toMatchObject({ code: status.CANCELLED })
  await expect.poll(() => node.cancelled).toBe(before + 1)
})

test('the deadline of the client bounds the call and reaches the node', async () => {
  using client = new EchoClient(router.port)
  const before = node.cancelled
  const seen = await client.run('Silent', ['x'], new Metadata(), { deadline: Date.now() + 3_000 })
  expect(seen.code).toBe(status.DEADLINE_EXCEEDED)
  expect(node.deadlines.at(-1)).not.toBe(Infinity)
  await expect.poll(() => node.cancelled).toBe(before + 1)
})

test('a thousand calls run concurrently on one connection that allows so many', async () => {
  // On a busy machine the last call may need more than the default of one second.
  await using patient = await serve([node], {
    'min-relay-timeout': '20s',
    'max-calls-per-connection': 1_000,
  })
  using client = new EchoClient(patient.port)
  const streams = Array.from({ length: 1_000 }, () => client.open('Both', new Metadata()))
  const echoes = streams.map(async (stream, at) => {
    stream.write(Buffer.from(`${at}`.padEnd(30_000)))
    return new Promise((resolve) => stream.once('data', (piece) => resolve(String(piece).trim())))
  })
  expect(await Promise.all(echoes)).toEqual(streams.map((_, at) => `${at}`))
  for (const stream of streams) stream.end()
  const ends = await Promise.all(streams.map(seenOf))
  expect(ends.every(({ code }) => code === status.OK)).toBe(true)
})

test('calls move to another node after the first is stopped', async () => {
  const dead = await new EchoServer().start()
  await using alive = await new EchoServer().start()
  await using pair = await serve([dead, alive])
  await dead[Symbol.asyncDispose]()
  using client = new EchoClient(pair.port)
  for (let at = 0; at < 6; at++)
    expect(await client.run('Unary', ['hi'], new Metadata())).toMatchObject({ code: 0 })
  expect(alive.calls).toBe(6)
})

test('without a node the call is UNAVAILABLE, with a reason', async () => {
  const dead = await new EchoServer().start()
  await using lone = await serve([dead])
  await dead[Symbol.asyncDispose]()
  using client = new EchoClient(lone.port)
  const seen = await client.run('Unary', ['hi'], new Metadata())
  expect(seen.code).toBe(status.UNAVAILABLE)
  expect(seen.details).toContain('upstream-failed')
})

test('at a stop every connection gets a GOAWAY, and calls in flight end normally', async () => {
  await using own = await serve([node])
  using client = new EchoClient(own.port)
  const stream = client.open('Both', new Metadata())
  stream.write(Buffer.from('a'))
  await new Promise((resolve) => stream.once('data', resolve))
  const drained = own.listener.drain()
  stream.write(Buffer.from('b'))
  expect(
    await new Promise((resolve) => stream.once('data', (piece) => resolve(String(piece)))),
  ).toBe('b')
  // The router still serves new connections.
  using late = new EchoClient(own.port)
  expect(await late.run('Unary', ['hi'], new Metadata())).toMatchObject({ code: 0 })
  stream.end()
  expect(await seenOf(stream)).toMatchObject({ code: status.OK })
  await drained
  await own.listener.settle()
})

test('a message over the limit is refused by its length prefix', async () => {
  await using own = await serve([node], { 'max-request-bytes': 1_000_000 })
  const before = node.calls
  using client = new EchoClient(own.port)
  const seen = await client.run('Unary', [Buffer.alloc(3_000_000)], new Metadata())
  expect(seen).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  expect(seen.details).toContain('1000000 bytes')
  expect(node.calls).toBeLessThanOrEqual(before + 1)
})

test("a client's metadata reaches the node without its credentials", async () => {
  const metadata = new Metadata()
  metadata.set('authorization', 'Bearer secret')
  metadata.set('rpc-debug-relay', 'true')
  metadata.set('x-any', 'thing')
  using client = new EchoClient(router.port)
  await client.run('Unary', ['hi'], metadata)
  const seen = node.metadata.at(-1)!.getMap()
  expect(seen).toMatchObject({ 'x-any': 'thing' })
  expect(Object.keys(seen)).not.toContain('authorization')
  expect(Object.keys(seen)).not.toContain('rpc-debug-relay')
})

test('a repeated directive is an invalid argument', async () => {
  const metadata = new Metadata()
  for (const session of ['a', 'a']) metadata.add('rpc-stickiness', session)
  using client = new EchoClient(router.port)
  const { code, details } = await client.run('Unary', ['hi'], metadata)
  expect({ code, details }).toEqual({
    code: status.INVALID_ARGUMENT,
    details: expect.stringContaining('the header rpc-stickiness is repeated: send it once'),
  })
})

test('a directive selects the node', async () => {
  await using other = await new EchoServer().start()
  await using pair = await serve([node, other])
  const metadata = new Metadata()
  metadata.set('rpc-select-provider', 'node-1')
  using client = new EchoClient(pair.port)
  for (let at = 0; at < 3; at++) await client.run('Unary', ['hi'], metadata)
  expect(other.calls).toBe(3)
})
