// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Stream } from 'node:http2'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { Body } from '../../upstream/wire.ts'
import type { Http2Exchange } from './http2-exchange.ts'
import { directClients } from '../testing/listener-fixture.ts'
import { Http2Server } from './http2-server.ts'

const piece = Buffer.alloc(64 * 1024)

/** An endless stream that records how much was read and whether it was released. */
class Endless {
  pulled = 0
  isReleased = false

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        this.pulled += 1
        yield await Promise.resolve(piece)
      }
    } finally {
      this.isReleased = true
    }
  }
}

/** A client whose call is answered with this body, or refused if there is none. */
async function answered(body: Body | null, hasEnded = true) {
  const stack = new AsyncDisposableStack()
  const clock = new VirtualClock()
  const budget = new ByteBudget(1e9)
  const served = Promise.withResolvers<Http2Exchange>()
  const server = new Http2Server({
    address: { host: '127.0.0.1', port: 0 },
    clients: directClients,
    maxRequestBytes: 1_000,
    budget,
    grpcLimits: { maxStreams: 128, idleTimeoutMs: null },
    clock,
    serve: (exchange) => {
      const head = ['content-type', 'application/grpc']
      if (body === null) exchange.end(head, ['grpc-status', '12'])
      else void exchange.respond(head, body, () => ['grpc-status', '0'])
      served.resolve(exchange)
    },
    observer: { connectionsChanged: () => {}, requestRefused: () => {} },
  })
  const { port } = await server.start()
  const session = connect(`http://127.0.0.1:${port}`)
  stack.defer(async () => {
    session.destroy()
    const closed = server.close()
    await clock.advance(2_000)
    await closed
  })
  const stream = session.request({ ':method': 'POST', ':path': '/a/B', 'x-a': 'a'.repeat(10_000) })
  stream.on('error', () => {})
  if (hasEnded) stream.end()
  await new Promise((resolve) => stream.once('response', resolve))
  const exchange = await served.promise
  const { signal } = exchange
  return {
    clock,
    budget,
    stream,
    signal,
    exchange,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Waits until the server can send nothing more. */
async function full(body: Endless): Promise<void> {
  let before = -1
  const stands = () => {
    const isStill = before === body.pulled
    before = body.pulled
    return isStill
  }
  await expect.poll(stands, { interval: 100 }).toBe(true)
}

function take(stream: ClientHttp2Stream, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes
    const onData = (chunk: Buffer) => {
      left -= chunk.length
      if (left > 0) return
      stream.off('data', onData).pause()
      resolve()
    }
    stream.on('data', onData).resume()
  })
}

test('a client that reads nothing of a stream for 60 s is cut off, with the reason', async () => {
  const body = new Endless()
  await using setup = await answered(body)
  await full(body)
  await setup.clock.advance(59_999)
  expect([body.isReleased, setup.signal.aborted]).toEqual([false, false])
  await setup.clock.advance(1)
  await expect.poll(() => [body.isReleased, setup.signal.aborted]).toEqual([true, true])
  setup.stream.resume()
  // ENHANCE_YOUR_CALM, which gRPC maps to RESOURCE_EXHAUSTED.
  await expect.poll(() => setup.stream.rstCode).toBe(11)
})

test('a client that reads slowly but steadily is not cut off', async () => {
  const body = new Endless()
  await using setup = await answered(body)
  for (let round = 0; round < 4; round++) {
    await full(body)
    await setup.clock.advance(50_000)
    const { pulled } = body
    await take(setup.stream, 1024 * 1024)
    await expect.poll(() => body.pulled).toBeGreaterThan(pulled)
  }
  expect([body.isReleased, setup.signal.aborted]).toEqual([false, false])
})

test.each([
  ['none of an answer', 0],
  ['all but the end of it', 512 * 1024],
])('a client that reads %s for 60 s is cut off', async (_, takenBytes) => {
  await using setup = await answered(Buffer.alloc(1024 * 1024))
  if (takenBytes > 0) await take(setup.stream, takenBytes)
  await setup.clock.advance(59_999)
  expect(setup.signal.aborted).toBe(false)
  await setup.clock.advance(60_001)
  await expect.poll(() => setup.signal.aborted).toBe(true)
})

test('no timer remains once a client has read its whole answer', async () => {
  await using setup = await answered(Buffer.alloc(1024 * 1024))
  setup.stream.resume()
  await new Promise((resolve) => setup.stream.once('close', resolve))
  // The remaining timer checks that the connection is alive.
  await expect.poll(() => setup.clock.pending).toBe(1)
  expect(setup.signal.aborted).toBe(false)
})

/** A call with an open request, and a count of its idle reports. */
async function opened() {
  const body = new PassThrough()
  const setup = await answered(body, false)
  const counts = { idle: 0 }
  setup.exchange.whenIdle(6_000, () => (counts.idle += 1))
  return { ...setup, body, counts }
}

test('an open request is idle once neither side has sent anything for the timeout', async () => {
  await using setup = await opened()
  const { clock, stream, exchange, body, counts } = setup
  await clock.advance(5_999)
  stream.write(Buffer.alloc(5))
  await expect.poll(() => exchange.messages).toBe(1)
  await clock.advance(5_999)
  const read = new Promise((resolve) => stream.once('data', resolve))
  body.write('x')
  await read
  await clock.advance(5_999)
  expect(counts.idle).toBe(0)
  await clock.advance(1)
  expect(counts.idle).toBe(1)
})

test.each(['ends', 'is reset'])('a request that %s is never idle', async (how) => {
  await using setup = await opened()
  const { clock, stream, counts } = setup
  const before = clock.pending
  if (how === 'ends') stream.end()
  else stream.close(8)
  await expect.poll(() => clock.pending).toBe(before - 1)
  await clock.advance(20_000)
  expect(counts.idle).toBe(0)
})

test('a refused call and its headers linger for at most 2 s when the request never ends', async () => {
  await using setup = await answered(null, false)
  const { clock, budget, stream } = setup
  expect(budget.heldBytes).toBeGreaterThan(10_000)
  const closed = new Promise((resolve) => stream.resume().once('close', resolve))
  await clock.advance(2_000)
  await closed
  expect(stream.rstCode).toBe(0)
  await expect.poll(() => budget.heldBytes).toBe(0)
})
