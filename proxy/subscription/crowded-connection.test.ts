// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Cooldown } from '../upstream/health.ts'
import { nodeUrlConfig } from '../upstream/testing/node-url-config.ts'
import { startSocketNode } from '../upstream/testing/socket-node.ts'
import { createWebSocketTransport } from '../upstream/wire/ws/ws-transport.ts'
import { SharedSource } from './source.ts'
import { NodeUrl } from '../upstream/node-url.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** A node that accepts some subscriptions per connection, and the sources at it. */
async function setUp(perConnection: number, error: { code: number; message: string }) {
  const counts = new WeakMap<object, number>()
  let lastId = 0
  const node = await startSocketNode({
    answer({ id }, socket) {
      const count = counts.get(socket) ?? 0
      counts.set(socket, count + 1)
      const outcome = count < perConnection ? { result: `0x${++lastId}` } : { error }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    },
  })
  const chain = (await loadCatalog([])).find('ETH1')!
  const clock = new VirtualClock()
  const config = nodeUrlConfig(node.url)
  const transport = createWebSocketTransport(config, { clock, subscriptionsPerConnection: 100 })
  const url = new NodeUrl(config, transport, new Cooldown(clock, null))
  cleanups.push(
    () => node[Symbol.asyncDispose](),
    () => transport.close(),
  )
  const join = (address: number) => {
    const params = ['logs', { address: `0x${address}` }]
    const request = { method: 'eth_subscribe', params, unsubscribe: () => null }
    const source = new SharedSource(request, {
      ...{ upstream: { name: 'a' }, url, failures: chain.failures },
      ...{ observer: { upstreamChanged() {} }, observe() {}, ended() {} },
    })
    return source.join(new AbortController().signal)
  }
  return { node, url, clock, join }
}

it.each([
  { code: -32006, message: 'Too many subscriptions on the connection' },
  { code: -32603, message: 'max_subscriptions_per_client 5 reached' },
])('12 subscriptions at a node that takes 5 per connection: %o', async (refusal) => {
  const { node, url, clock, join } = await setUp(5, refusal)
  await Promise.all(Array.from({ length: 12 }, (_, at) => join(at)))
  expect([node.upgrades.length, url.cooldown.active]).toEqual([3, false])
  const requests = node.received.length
  await join(12)
  // It knows the limit, and asks the connection that has room.
  expect([node.upgrades.length, node.received.length]).toEqual([3, requests + 1])
  await clock.advance(0)
})

it.each([
  { code: -32005, message: 'limit exceeded' },
  { code: -32005, message: 'rate limit exceeded, retry in 1000ms' },
])('a rate limit opens no connection and limits none: %o', async (refusal) => {
  const { node, url, join } = await setUp(5, refusal)
  for (let each = 0; each < 5; each++) await join(each)
  await expect(join(5)).rejects.toThrow('refused')
  expect([node.upgrades.length, node.received.length]).toEqual([1, 6])
  expect(url.cooldown.last.why).toMatch(/^rate limited/)
})

it('a node that refuses the first subscription of a connection is not asked again', async () => {
  const { node, url, join } = await setUp(0, { code: 429, message: 'daily request limit reached' })
  await expect(join(0)).rejects.toThrow('refused')
  expect([node.received.length, url.cooldown.last.why]).toEqual([1, 'quota exceeded'])
})
