// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Secret } from '../config/secret.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import type { StateRecord } from './observer.ts'
import { createPool } from './pool.ts'
import { dialects } from './dialect.ts'
import type { SocketTransport } from './wire.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport, type Script } from './testing/scripted-transport.ts'
import { Watch } from './watch.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  const ethereum = (await loadCatalog([])).find('ETH1')
  const jsonrpc = ethereum?.interfaces.get('jsonrpc')
  if (!ethereum || !jsonrpc) throw new Error('the bundled specs lack ETH1')
  chain = ethereum
  iface = jsonrpc
})

const watches: Watch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

class ScriptedSocket extends ScriptedTransport implements SocketTransport {
  subscribe(): Promise<never> {
    return Promise.reject(new Error('nobody subscribes in these tests'))
  }
}

const node =
  (chainId = '0x1'): Script =>
  ({ body }) => {
    const { method } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { method: string }
    const result = method === 'eth_chainId' ? chainId : '0x10'
    return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) }
  }
/** Error of a Solana node on its WebSocket. */
const subscriptionsOnly: Script = () => ({
  body: '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}',
})
const broken: Script = () => ({
  body: '{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params"},"id":1}',
})
const down: Script = () => ({ fault: 'refused' })

function watched(urls: readonly string[], script: Script, ofCalls = node()) {
  const clock = new VirtualClock()
  const events: string[] = []
  const sockets: ScriptedSocket[] = []
  const observer = {
    stateChanged: (name: string, from: string, { state }: StateRecord) =>
      events.push(`${name}: ${from} > ${state}`),
    cooldownBegan: () => {},
    verificationFailed: (name: string, url: string, verification: string, why: string) =>
      events.push(`${name} ${url} ${verification}: ${why}`),
  }
  const pool = createPool(
    [
      {
        name: 'a',
        tier: 'primary',
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        nodeUrls: urls.map((url) => ({ ...nodeUrlConfig(url), url: new Secret(url, url) })),
      },
    ],
    {
      ...{ chain, iface, clock, observer, random: seededRandom(1) },
      tracker: new ChainTracker({ chain, clock }),
      config: { now: { strategy: 'balanced' } },
      maxSessions: 10,
      failureThreshold: 2,
      createTransport: () => new ScriptedTransport(clock, ofCalls),
      createSocketTransport: () => {
        const socket = new ScriptedSocket(clock, script)
        sockets.push(socket)
        return socket
      },
    },
  )
  const watch = new Watch({
    ...{ pool, iface, clock, observer, random: seededRandom(2) },
    dialect: dialects.jsonrpc,
    chain,
    healthCheckIntervalMs: 300_000,
    livenessProbeIntervalMs: null,
    epochDurationMs: 900_000,
  })
  watches.push(watch)
  watch.start((error) => {
    throw error
  })
  const [upstream] = pool.upstreams
  if (!upstream) throw new Error('the pool has one upstream')
  return { clock, events, sockets, pool, upstream }
}

const both = ['http://a.test', 'ws://a.test']

describe('a WebSocket URL beside an HTTP URL', () => {
  it('is verified but serves no calls', async () => {
    const { clock, upstream, sockets } = watched(both, node())
    await clock.advance(100)
    expect(upstream.sockets.map(({ verified }) => verified)).toEqual([true])
    expect(upstream.urlsFor([]).map(({ printable }) => printable)).toEqual(['http://a.test'])
    expect(sockets[0]?.requests.length).toBeGreaterThan(0)
  })

  it('that is down is reported and retried without affecting its upstream', async () => {
    const { clock, events, pool, upstream, sockets } = watched(both, down)
    await clock.advance(60_000)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'eligible', latestBlock: 16 }])
    expect(upstream.sockets[0]?.verified).toBeNull()
    expect(new Set(events)).toEqual(
      new Set(['a ws://a.test reach: connection-refused (scripted)', 'a: unverified > eligible']),
    )
    expect(upstream.trouble).toMatch(
      /^1 of 2 URLs serving; URL 2 .* not used: reach: connection-refused \(scripted\)$/,
    )
    sockets[0]?.play(node())
    await clock.advance(35_000)
    expect([upstream.sockets[0]?.verified, upstream.trouble]).toEqual([true, null])
  })

  it('that recovers is used a second later', async () => {
    const { clock, upstream, sockets } = watched(both, down)
    await clock.advance(500)
    sockets[0]?.play(node())
    expect(upstream.sockets[0]?.verified).toBeNull()
    await clock.advance(700)
    expect(upstream.sockets[0]?.verified).toBe(true)
  })

  it('that goes down later does not affect its upstream', async () => {
    const { clock, pool, upstream, sockets } = watched(both, node())
    await clock.advance(100)
    sockets[0]?.play(down)
    await clock.advance(3_000_000)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'eligible' }])
    expect(upstream.sockets[0]?.failures).toBeGreaterThan(0)
    expect(upstream.trouble).toMatch(
      /^1 of 2 URLs serving; URL 2 \(ws:\/\/a\.test\) .*\d+ failures in a row, the last: .*connection-refused \(scripted\)$/,
    )
  })

  it('of another chain is not used and does not affect its upstream', async () => {
    const { clock, events, pool, upstream } = watched(both, node('0x5'))
    await clock.advance(100)
    expect(upstream.sockets[0]?.verified).toBe(false)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'eligible' }])
    expect(events).toContain('a ws://a.test chain-id: expected 0x1, the node reported 0x5')
  })
})

it('an upstream of another chain says so first, even if its WebSocket URL passes', async () => {
  const { clock, pool } = watched(both, subscriptionsOnly, node('0x5'))
  await clock.advance(100)
  const why = 'chain-id: expected 0x1, the node reported 0x5 at http://a.test'
  expect(pool.snapshot().upstreams).toMatchObject([{ state: 'rejected', why }])
})

describe('a WebSocket URL without other methods', () => {
  it('serves subscriptions beside a URL that answers calls', async () => {
    const { clock, events, upstream } = watched(both, subscriptionsOnly)
    await clock.advance(100)
    expect(upstream.sockets.map(({ verified }) => verified)).toEqual([true])
    expect(events).toEqual(['a: unverified > eligible'])
  })

  it('is not used if it has another error', async () => {
    const { clock, upstream } = watched(both, broken)
    await clock.advance(100)
    expect(upstream.sockets.map(({ verified }) => verified)).toEqual([false])
  })

  it('serves no calls as the only URL', async () => {
    const { clock, pool } = watched(['ws://a.test'], subscriptionsOnly)
    await clock.advance(100)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'rejected' }])
  })
})

describe('a single WebSocket URL', () => {
  it('whose upgrades are rate limited enters cooldown without blame', async () => {
    const { clock, pool, upstream, sockets } = watched(['wss://a.test'], node())
    await clock.advance(100)
    sockets[0]?.play(() => ({ fault: 'limited' }))
    await clock.advance(20_000)
    const { failures, cooldown } = upstream.urls[0]!
    expect([failures, cooldown.last.why]).toEqual([
      0,
      'rate limited: connection-limited (scripted)',
    ])
    if (!cooldown.active) await clock.advance(1_000)
    expect(pool.hasEligible).toBe(true)
  })

  it('serves calls and makes its upstream eligible', async () => {
    const { clock, pool, upstream } = watched(['wss://a.test'], node())
    await clock.advance(100)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'eligible', latestBlock: 16 }])
    expect(upstream.urlsFor([]).map(({ printable }) => printable)).toEqual(['wss://a.test'])
    expect(upstream.sockets[0]).toBe(upstream.urls[0])
  })

  it('that is down keeps its upstream out of service', async () => {
    const { clock, pool } = watched(['ws://a.test'], down)
    await clock.advance(100)
    expect(pool.snapshot().upstreams).toMatchObject([{ state: 'unverified' }])
  })
})
