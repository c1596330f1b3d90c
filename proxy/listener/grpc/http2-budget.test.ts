// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Session } from 'node:http2'
import { expect, test } from 'vitest'
import { ByteBudget, Reservation } from '../../bytes/byte-budget.ts'
import { clientLimits } from '../../bytes/limits.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import type { Relay } from '../../relay/relay.ts'
import { createGrpcListener } from '../grpc.ts'
import { directClients, anyInterface, reply } from '../testing/listener-fixture.ts'
import { frame, frameType, openCall, RawHttp2, windowUpdated } from '../testing/raw-http2.ts'

const message = (length: number) => {
  const bytes = Buffer.alloc(5 + length)
  bytes.writeUInt32BE(length, 1)
  return bytes
}

/** Shortens the linger after an answer to 50 ms. */
const clock: Clock = {
  ...systemClock,
  after: (ms, run) => systemClock.after(ms === clientLimits.lingerMs ? 50 : ms, run),
}

async function serve(relay: Relay, budget: ByteBudget, callEnded = () => {}) {
  const listener = createGrpcListener({
    address: { host: '127.0.0.1', port: 0 },
    iface: anyInterface({}),
    relay,
    clock,
    observer: {
      callEnded,
      requestRefused: () => {},
      connectionsChanged: () => {},
      socketsChanged: () => {},
    },
    maxRequestBytes: 10e6,
    grpcLimits: { maxStreams: 128, idleTimeoutMs: null },
    allowedOrigins: null,
    budget,
    clients: directClients,
    socketLimits: {
      maxMessageBytes: 1,
      maxCalls: 1,
      maxSubscriptions: 1,
      maxBufferedBytes: 1,
      idleTimeoutMs: null,
    },
    subscriptions: null,
    version: '1',
    newGuid: () => 'guid',
    health: () => true,
  })
  const { port } = await listener.start()
  const session = connect(`http://127.0.0.1:${port}`)
  return {
    ...{ session, port },
    async [Symbol.asyncDispose]() {
      session.destroy()
      await listener.close()
    },
  }
}

/** Returns the HTTP status and the gRPC status of the answer. */
async function call(session: ClientHttp2Session, path: string, body: Buffer | null) {
  const isGet = body === null
  const stream = session.request({
    ':method': isGet ? 'GET' : 'POST',
    ':path': path,
    'content-type': 'application/grpc',
  })
  const head = Promise.withResolvers<Record<string, unknown>>()
  stream.on('error', () => {}).on('response', head.resolve)
  stream.on('trailers', (trailers) => Object.assign(result, trailers))
  const result: Record<string, unknown> = {}
  stream.end(body ?? undefined)
  Object.assign(result, await head.promise)
  stream.resume()
  await new Promise((resolve) => stream.once('close', resolve))
  return { http: result[':status'], grpc: result['grpc-status'] }
}

const answer = (length = 100_000) => {
  const answer = reply(message(length), { headers: ['content-type', 'application/grpc'] })
  return { ...answer, incoming: { ...answer.incoming, trailers: () => ['grpc-status', '0'] } }
}

test('a full budget refuses new calls with RESOURCE_EXHAUSTED; calls in flight and /health are answered', async () => {
  const budget = new ByteBudget(1e6)
  const gate = Promise.withResolvers<undefined>()
  let inFlight = 0
  const relay: Relay = async () => {
    inFlight += 1
    await gate.promise
    return answer()
  }
  await using served = await serve(relay, budget)
  const first = call(served.session, '/a.B/C', message(50_000))
  await expect.poll(() => inFlight).toBe(1)
  await expect.poll(() => budget.heldBytes).toBeGreaterThanOrEqual(50_005)
  budget.hold(1e6)
  expect(await call(served.session, '/a.B/C', message(2e6))).toEqual({ http: 200, grpc: '8' })
  expect(await call(served.session, '/health', null)).toMatchObject({ http: 200 })
  gate.resolve(undefined)
  expect(await first).toEqual({ http: 200, grpc: '0' })
  budget.release(1e6)
  expect(await call(served.session, '/a.B/C', message(10))).toEqual({ http: 200, grpc: '0' })
  await expect.poll(() => budget.heldBytes).toBe(0)
})

test.each([
  { refused: 'is not gRPC', type: 'text/plain', head: { ':status': 415 } },
  { refused: 'finds no room', type: 'application/grpc', head: { 'grpc-status': '8' } },
])('a call that $refused keeps nothing of a request that does not end', async (row) => {
  const budget = new ByteBudget(10e6)
  await using served = await serve(() => Promise.resolve(answer()), budget)
  if (row.type === 'application/grpc') budget.hold(10e6)
  const heldBefore = budget.heldBytes
  const calls = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const head = { ':method': 'POST', ':path': '/a.B/C', 'content-type': row.type }
      const stream = served.session.request(head).on('error', () => {})
      stream.write(message(200_000))
      const answered = Promise.withResolvers<unknown>()
      stream.on('response', answered.resolve)
      return [stream, await answered.promise] as const
    }),
  )
  for (const [, head] of calls) expect(head).toMatchObject(row.head)
  // Only the request heads remain.
  await expect.poll(() => budget.heldBytes - heldBefore).toBeLessThan(60_000)
  const closed = calls.map(([stream]) => new Promise((resolve) => stream.once('close', resolve)))
  for (const [stream] of calls) stream.resume()
  await Promise.all(closed)
  expect(budget.heldBytes).toBe(heldBefore)
})

const opened = (calls: number) => Array.from({ length: calls }, (_, at) => openCall(2 * at + 1))

test('answered calls hold no bytes, even when their requests never end', async () => {
  const budget = new ByteBudget(1e6)
  let requests = 0
  const relay: Relay = () => Promise.resolve(answer(++requests))
  await using served = await serve(relay, budget)
  using client = new RawHttp2(served.port)
  await client.writeAll(...opened(100))
  await expect.poll(() => requests).toBe(100)
  await expect.poll(() => budget.heldBytes).toBe(0)
  expect(client.isClosed).toBe(false)
})

test('calls that never start are charged for their objects: the idlest connection closes, and others are served', async () => {
  const budget = new ByteBudget(1e6)
  const relay: Relay = ({ request }) =>
    request.path === '/a.B/Innocent' ? Promise.resolve(answer(100)) : new Promise(() => {})
  await using served = await serve(relay, budget)
  using client = new RawHttp2(served.port)
  await client.writeAll(...opened(128))
  await expect.poll(() => budget.cutOffs).toBeGreaterThan(0)
  await expect.poll(() => budget.heldBytes).toBe(0)
  expect(await call(served.session, '/a.B/Innocent', message(10))).toEqual({ http: 200, grpc: '0' })
})

test('a client that reads is not cut off while its answer is in transit', async () => {
  const budget = new ByteBudget(1e6)
  const cut: string[] = []
  const upload = new Reservation(budget, () => {
    cut.push('upload')
    upload.release()
  })
  const keepMuchWaiting = () => {
    upload.hold(600_000)
    upload.waits()
  }
  await using served = await serve(() => Promise.resolve(answer(100)), budget, keepMuchWaiting)
  for (let each = 0; each < 3; each++)
    expect(await call(served.session, '/a.B/C', message(10))).toEqual({ http: 200, grpc: '0' })
  expect(cut).toEqual(['upload', 'upload', 'upload'])
})

/** Opens large windows and reads nothing. */
function deafClient(port: number, calls: number): RawHttp2 {
  const client = new RawHttp2(port)
  client.socket.pause()
  const wide = frame(frameType.settings, 0, 0, Buffer.from('00047fffffff', 'hex'))
  const requests = Array.from({ length: calls }, (_, at) => [
    openCall(2 * at + 1),
    frame(frameType.data, 1, 2 * at + 1, message(1)),
  ])
  client.write(wide, windowUpdated(0, 0x7fff0000), ...requests.flat())
  return client
}

test('among clients that do not read, the longest-waiting connection closes; others are served', async () => {
  const budget = new ByteBudget(80e6)
  await using served = await serve(() => Promise.resolve(answer(1_000_000)), budget)
  using first = deafClient(served.port, 30)
  await expect.poll(() => budget.heldBytes).toBeGreaterThan(20e6)
  using second = deafClient(served.port, 30)
  await expect.poll(() => budget.cutOffs).toBeGreaterThan(0)
  expect(await call(served.session, '/a.B/C', message(10))).toEqual({ http: 200, grpc: '0' })
  first.socket.resume()
  await expect.poll(() => first.socket.destroyed || first.socket.readableEnded).toBe(true)
  expect(second.socket.destroyed).toBe(false)
})
