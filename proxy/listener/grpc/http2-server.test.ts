// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { SilentWire } from '../../upstream/testing/silent-wire.ts'
import type { Http2Exchange } from './http2-exchange.ts'
import { directClients } from '../testing/listener-fixture.ts'
import { Http2Server } from './http2-server.ts'

/** A server with open calls, on a connection that can go silent. */
async function serving() {
  const stack = new AsyncDisposableStack()
  const clock = new VirtualClock()
  const exchanges: Http2Exchange[] = []
  const observed = { connections: 0, exchanges }
  const server = new Http2Server({
    address: { host: '127.0.0.1', port: 0 },
    clients: directClients,
    maxRequestBytes: 1_000,
    budget: new ByteBudget(1e9),
    grpcLimits: { maxStreams: 128, idleTimeoutMs: null },
    clock,
    serve: (exchange) => void exchanges.push(exchange),
    observer: {
      connectionsChanged: (open) => {
        observed.connections = open
      },
      requestRefused: () => {},
    },
  })
  const { port } = await server.start()
  stack.defer(async () => {
    const closed = server.close()
    await clock.advance(2_000)
    await closed
  })
  const wire = stack.use(await new SilentWire(() => port).start())
  const session = connect(`http://127.0.0.1:${wire.port}`).on('error', () => {})
  stack.defer(() => {
    session.destroy()
  })
  await new Promise((resolve) => session.once('remoteSettings', resolve))
  return {
    clock,
    server,
    wire,
    session,
    observed,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function openCall(session: ClientHttp2Session): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': '/a/B' }).on('error', () => {})
}

test('a client that vanishes silently holds its streams for at most 90 s', async () => {
  await using setup = await serving()
  const { clock, observed, wire } = setup
  for (let at = 0; at < 3; at++) openCall(setup.session)
  await expect.poll(() => observed.exchanges).toHaveLength(3)
  const aborted = () => observed.exchanges.filter(({ signal }) => signal.aborted).length
  await clock.advance(30_000)
  wire.fallSilent()
  await clock.advance(59_999)
  expect([aborted(), observed.connections]).toEqual([0, 1])
  await clock.advance(1)
  await expect.poll(() => [aborted(), observed.connections]).toEqual([3, 0])
  expect(clock.pending).toBe(0)
})

test('a vanished client without streams is disconnected', async () => {
  await using setup = await serving()
  setup.wire.fallSilent()
  await setup.clock.advance(90_000)
  await expect.poll(() => setup.observed.connections).toBe(0)
})

test('a client that never speaks HTTP/2 is disconnected', async () => {
  await using setup = await serving()
  setup.session.destroy()
  const { clock, observed, wire } = setup
  await expect.poll(() => observed.connections).toBe(0)
  const mute = connectTcp(wire.port, '127.0.0.1').on('error', () => {})
  await expect.poll(() => observed.connections).toBe(1)
  await clock.advance(60_000)
  await expect.poll(() => observed.connections).toBe(0)
  mute.destroy()
})

test.each([
  ['', false],
  [', also when the server has said goodbye', true],
])('a client that answers pings may stay idle as long as it likes%s', async (_, drains) => {
  await using setup = await serving()
  const { clock, observed, session } = setup
  const stream = openCall(session)
  await expect.poll(() => observed.exchanges).toHaveLength(1)
  const messages = observed.exchanges[0]!.body[Symbol.asyncIterator]()
  let requests = 0
  session.on('ping', () => (requests += 1)).on('remoteSettings', () => (requests += 1))
  if (drains) {
    const leaves = new Promise((resolve) => session.once('goaway', resolve))
    void setup.server.drain()
    await leaves
  }
  for (let round = 1; round <= 4; round++) {
    await clock.advance(30_000)
    await clock.advance(30_000)
    await expect.poll(() => requests).toBeGreaterThanOrEqual(round)
    // The server reads this after the ping acknowledgement.
    stream.write(Buffer.alloc(5))
    expect(await messages.next()).toMatchObject({ done: false })
  }
  expect(observed.exchanges[0]!.signal.aborted).toBe(false)
  expect(observed.connections).toBe(1)
})

test('a client that connects during a drain is served, however late it calls, and then gets GOAWAY', async () => {
  await using setup = await serving()
  const { clock, observed, server, session } = setup
  const other = connect(`http://127.0.0.1:${setup.wire.port}`).on('error', () => {})
  openCall(other)
  await expect.poll(() => observed.exchanges).toHaveLength(1)
  const leaves = [other, session].map((each) => once(each, 'goaway'))
  void server.drain()
  await clock.advance(100)
  await leaves[0]
  // A GOAWAY would have arrived by now.
  await new Promise((resolve) => session.ping(resolve))
  openCall(session)
  await expect.poll(() => observed.exchanges).toHaveLength(2)
  await clock.advance(100)
  await leaves[1]
  other.destroy()
})
