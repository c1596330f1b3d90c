// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import {
  directClients,
  echoRelay,
  RawClient,
  rawPost,
  startListener,
} from '../testing/listener-fixture.ts'
import type { HttpExchange } from './http-exchange.ts'
import { HttpServer } from './http-server.ts'

/*
 * A connection has one call in flight. Pipelined requests wait, and the connection is not read
 * meanwhile. Other connections are served normally.
 */

function post(id: number, method: string): Buffer {
  return rawPost(JSON.stringify({ jsonrpc: '2.0', id, method }))
}

/** A server whose calls are answered on demand. */
async function serving(
  timeouts: Partial<{ headersMs: number; requestMs: number }> = {},
  budget = new ByteBudget(1e9),
) {
  const stack = new AsyncDisposableStack()
  const clock = new VirtualClock()
  const exchanges: HttpExchange[] = []
  const observed = { open: 0 }
  const server = new HttpServer({
    address: { host: '127.0.0.1', port: 0 },
    clients: directClients,
    maxRequestBytes: 1_000_000,
    budget,
    clock,
    handler: {
      serve: (exchange) => void exchanges.push(exchange),
      refuse: ({ kind }) => ({ status: kind.httpStatus, headers: [], body: Buffer.from('no') }),
    },
    observer: { connectionsChanged: (now) => void (observed.open = now) },
    timeouts: {
      ...{ headersMs: 60_000, requestMs: 60_000, checkMs: 10 },
      ...{ keepAliveMs: 60_000, announcedMs: 60_000, stalledMs: 60_000, ...timeouts },
    },
  })
  const { port } = await server.start()
  stack.defer(async () => {
    let isClosed = false
    void server.close().then(() => (isClosed = true))
    while (!isClosed) await clock.advance(1_000)
  })
  const client = stack.use(new RawClient(port))
  const answer = (at: number) => exchanges[at]?.respond(200, [], Buffer.from(`answer ${at};`))
  const dispose = () => stack.disposeAsync()
  return {
    clock,
    port,
    observed,
    exchanges,
    server,
    client,
    answer,
    [Symbol.asyncDispose]: dispose,
  }
}

test('20,000 calls on one connection are answered in order, one at a time, while others are served', async () => {
  const count = 20_000
  let inFlight = 0
  let maxInFlight = 0
  await using fixture = await startListener(async (call) => {
    if (call.method.name !== 'ahead') return echoRelay(call)
    maxInFlight = Math.max(maxInFlight, ++inFlight)
    await new Promise((resolve) => setImmediate(resolve))
    inFlight -= 1
    return echoRelay(call)
  })
  using greedy = new RawClient(fixture.port)
  const pieces: string[] = []
  greedy.socket.removeAllListeners('data').on('data', (data) => pieces.push(data.toString()))
  greedy.write(Buffer.concat(Array.from({ length: count }, (_, id) => post(id, 'ahead'))))
  await expect.poll(() => fixture.calls.length).toBeGreaterThan(100)
  for (let at = 0; at < 10; at++)
    expect(
      await (
        await fetch(fixture.url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"m"}' })
      ).text(),
    ).toContain('"result":"m"')
  expect(fixture.calls.length).toBeLessThan(count)
  await expect.poll(() => pieces.at(-1)).toContain(`"id":${count - 1},`)
  const ids = [...pieces.join('').matchAll(/"id":(\d+),/g)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: count }, (_, id) => id))
  expect(maxInFlight).toBe(1)
}, 90_000)

test('requests with bodies are buffered only up to one socket read', async () => {
  await using own = await serving()
  const { client, exchanges } = own
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000))
  expect(await client.untilClosed()).toBe('')
  expect(exchanges).toHaveLength(1)
})

test('waiting requests count in the process budget, and beyond half of it their connection closes', async () => {
  const budget = new ByteBudget(2 * 1024 * 1024)
  await using own = await serving({}, budget)
  const { client, exchanges, answer } = own
  client.write(Buffer.concat(Array.from({ length: 200 }, (_, id) => post(id, 'a'))))
  await expect.poll(() => budget.heldBytes).toBeGreaterThan(199 * 4096)
  for (let at = 0; at < 200; at++) {
    await expect.poll(() => exchanges.length, { interval: 1 }).toBe(at + 1)
    await answer(at)
  }
  await expect.poll(() => budget.heldBytes).toBe(0)
  client.write(Buffer.concat(Array.from({ length: 300 }, (_, id) => post(id, 'a'))))
  await client.untilClosed()
  await expect.poll(() => budget.heldBytes).toBe(0)
  expect(exchanges).toHaveLength(201)
})

test('connections with waiting requests never fill the budget for others', async () => {
  class Watched extends ByteBudget {
    mostBytes = 0
    override hold(bytes: number): void {
      super.hold(bytes)
      this.mostBytes = Math.max(this.mostBytes, this.heldBytes)
    }
  }
  const budget = new Watched(1_000_000)
  await using fixture = await serving({}, budget)
  const ahead = Buffer.concat(Array.from({ length: 100 }, (_, id) => post(id, 'ahead')))
  using stack = new DisposableStack()
  for (let at = 0; at < 20; at++) stack.use(new RawClient(fixture.port)).write(ahead)
  await expect.poll(() => budget.cutOffs).toBeGreaterThan(5)
  expect(budget.mostBytes).toBeLessThan(budget.maxBytes * 0.6)
})

test('a long body behind a call is read when its turn comes', async () => {
  await using own = await serving()
  const { client, exchanges, answer } = own
  client.write(Buffer.concat([post(0, 'a'), rawPost('b'.repeat(900_000)), post(2, 'c')]))
  for (let at = 0; at < 3; at++) {
    await expect.poll(() => exchanges).toHaveLength(at + 1)
    await answer(at)
  }
  expect(await client.until(/answer 2;/)).toMatch(/answer 0;.*answer 1;.*answer 2;/s)
  expect(exchanges.map(({ body }) => body.length)).toEqual([37, 900_000, 37])
})

test('requests pipelined by a client that disconnected do not run', async () => {
  await using own = await serving()
  const { client, exchanges, answer } = own
  client.write(Buffer.concat([post(0, 'a'), post(1, 'b'), post(2, 'c')]))
  await expect.poll(() => exchanges).toHaveLength(1)
  client.socket.resetAndDestroy()
  // The connection is paused, so the disconnect only surfaces when an answer is sent.
  for (const at of [0, 1]) {
    await expect.poll(() => exchanges.length > at || own.observed.open === 0).toBe(true)
    await answer(at)
  }
  await expect.poll(() => own.observed.open).toBe(0)
  expect(exchanges.length).toBeLessThan(3)
})

test('requests behind an answer that closes the connection do not run', async () => {
  await using own = await serving()
  const { client, exchanges, answer, clock } = own
  client.write(Buffer.concat([post(0, 'a'), post(1, 'b')]))
  await expect.poll(() => exchanges).toHaveLength(1)
  const drained = own.server.drain()
  await answer(0)
  expect(await client.untilClosed()).toMatch(/Connection: close.*answer 0;$/s)
  client.socket.end()
  await clock.advance(5_000)
  await drained
  expect(exchanges).toHaveLength(1)
})

test('an upgrade behind an unanswered call ends the connection', async () => {
  await using fixture = await startListener(() => new Promise(() => {}))
  using client = new RawClient(fixture.port)
  const upgrade = [
    ...['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''],
  ]
  client.write(Buffer.concat([post(0, 'a'), Buffer.from(upgrade.join('\r\n'))]))
  expect(await client.untilClosed()).toBe('')
  await expect.poll(fixture.openConnections).toBe(0)
})
