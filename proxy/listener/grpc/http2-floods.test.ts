// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect } from 'node:http2'
import { expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import * as raw from '../testing/raw-http2.ts'
import { directClients } from '../testing/listener-fixture.ts'
import { Http2Server } from './http2-server.ts'

/*
 * Cheap frames that cause work. Beyond a limit, the connection gets GOAWAY and closes, while other
 * clients are served normally.
 */

async function serving() {
  const stack = new AsyncDisposableStack()
  const clock = new VirtualClock()
  const observed = { connections: 0, calls: 0, refusals: [] as string[] }
  const server = new Http2Server({
    address: { host: '127.0.0.1', port: 0 },
    clients: directClients,
    maxRequestBytes: 1_000,
    grpcLimits: { maxStreams: 128, idleTimeoutMs: null },
    budget: new ByteBudget(1e9),
    clock,
    // Answers only requests that have ended, so calls in a flood stay open.
    serve: (exchange) => {
      observed.calls += 1
      void exchange.body
        .until(() => false, 1e9, clock)
        .then(() => {
          exchange.end(['content-type', 'application/grpc'], ['grpc-status', '0'])
        })
    },
    observer: {
      connectionsChanged: (open) => void (observed.connections = open),
      requestRefused: ({ kind }) => void observed.refusals.push(kind.reason),
    },
  })
  const { port } = await server.start()
  stack.defer(async () => {
    const closed = server.close()
    await clock.advance(2_000)
    await closed
  })
  const innocent = connect(`http://127.0.0.1:${port}`).on('error', () => {})
  stack.defer(() => {
    innocent.destroy()
  })
  const call = () =>
    new Promise<unknown>((resolve, reject) => {
      const stream = innocent.request({ ':method': 'POST', ':path': '/a.B/C' })
      stream.on('error', reject).on('response', (headers) => {
        resolve(headers['grpc-status'])
      })
      stream.resume().end(Buffer.alloc(5))
    })
  const client = stack.use(new raw.RawHttp2(port))
  const dispose = () => stack.disposeAsync()
  return { clock, server, observed, client, call, [Symbol.asyncDispose]: dispose }
}

const idOf = (at: number) => 2 * at + 1

const oneByte = raw.frame(raw.frameType.data, 0, 1, Buffer.alloc(1))

/** Each row has a frame, and how often the server may accept it. */
const floods: [string, number, (at: number) => Buffer[]][] = [
  ['calls that are reset at once', 4_000, (at) => [raw.openCall(idOf(at)), raw.reset(idOf(at))]],
  ['pings', 350_000, () => [raw.ping]],
  ['settings', 350_000, () => [raw.emptySettings]],
  ['empty DATA', 4_000, (at) => [...(at === 0 ? [raw.openCall(1)] : []), raw.emptyData(1)]],
  [
    'requests in frames of one byte',
    40_000,
    (at) => [...(at === 0 ? [raw.openCall(1)] : []), oneByte],
  ],
  ['headers that never end', 100, (at) => [raw.endlessHeaders(idOf(at), 100)]],
  ['priorities', 40_000, () => [raw.prioritized(3)]],
  ['frames of an unknown type', 40_000, () => [raw.frame(77, 0, 0)]],
  [
    'calls that make the server reset them',
    4_000,
    (at) => [raw.openCall(idOf(at)), raw.windowUpdated(idOf(at), 2 ** 31 - 1)],
  ],
  ['calls beyond the concurrency limit', 4_000, (at) => [raw.openCall(idOf(at))]],
]
test.each(floods)(
  'a flood of %s ends its connection and no other',
  async (_, most, of) => {
    await using setup = await serving()
    const { client, observed, server, clock } = setup
    let sent = 0
    while (!client.isClosed && sent < most) {
      // Small bursts stay below the limits on unanswered frames.
      await client.writeAll(...Array.from({ length: 100 }, () => of(sent++)).flat())
      if (sent % 2_000 === 0 || most < 2_000) expect(await setup.call()).toBe('0')
    }
    await expect.poll(() => client.isClosed).toBe(true)
    expect(client.goaway).toBeGreaterThan(0)
    expect(observed.refusals).toEqual(['bad-http'])
    expect(await setup.call()).toBe('0')
    await expect.poll(() => observed.connections).toBe(1)
    // The flooding connection leaves no call behind.
    const drained = server.drain()
    await clock.advance(2_000)
    await drained
  },
  60_000,
)

test('no state remains for a client that does not read its ping answers', async () => {
  await using setup = await serving()
  const { client, observed } = setup
  await expect.poll(() => observed.connections).toBe(2)
  client.socket.pause()
  await client.writeAll(Buffer.concat(Array.from({ length: 200_000 }, () => raw.ping)))
  await expect.poll(() => observed.connections).toBe(1)
  expect(await setup.call()).toBe('0')
})

test('a client may cancel hundreds of calls a second, most before they begin', async () => {
  await using setup = await serving()
  const { client, observed } = setup
  for (let at = 0; at < 250; at++) client.write(raw.openCall(idOf(at)), raw.reset(idOf(at)))
  await expect.poll(() => observed.calls).toBeGreaterThan(0)
  await client.writeAll(raw.ping)
  await expect.poll(() => client.count(raw.frameType.ping)).toBe(1)
  expect([client.isClosed, client.goaway]).toEqual([false, null])
  expect(observed.calls).toBeLessThan(250)
})

test('the server announces its limit of concurrent calls', async () => {
  await using setup = await serving()
  await expect.poll(() => setup.client.maxStreams).toBe(128)
})
