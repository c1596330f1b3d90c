// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ChainCatalog, ChainInterface, ProbeCall } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { ApiInterface } from '../config/types.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import { dialects } from './dialect.ts'
import { createPool, type Pool } from './pool.ts'
import { type HeadStore, SharedHeads } from './shared-heads.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport, type ScriptedAnswer } from './testing/scripted-transport.ts'
import { Watch } from './watch.ts'
import { TransportError, type Outgoing, type SocketTransport } from './wire.ts'

let catalog: ChainCatalog
beforeAll(async () => {
  catalog = await loadCatalog([])
})

const hourMs = 3_600_000

const watches: Watch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

/** A WebSocket that answers no calls: tests report its heads with `observeHead`. */
class SilentSocket implements SocketTransport {
  send(): never {
    throw new TransportError('refused', 'no call', false)
  }
  subscribe(): never {
    throw new TransportError('refused', 'no subscription', false)
  }
  async close(): Promise<void> {}
}

/** Watched nodes of a chain. All are at its head unless they are stopped. */
class Fixture {
  readonly clock: VirtualClock
  readonly transports: ScriptedTransport[] = []
  readonly probes = new Map<string, number>()
  readonly chain: Chain
  readonly pool: Pool
  readonly watch: Watch
  /** Nodes that never answer. */
  readonly dead = new Set<number>()
  /** Blocks of stopped nodes. */
  readonly stopped = new Map<number, number>()
  /** Lag of nodes in blocks. */
  readonly behind = new Map<number, number>()
  /** Growth of the chain relative to its usual pace. */
  pace = 1

  constructor(
    chainId: string,
    apiInterface: ApiInterface = 'jsonrpc',
    { nodes = 2, sockets = false, clock = new VirtualClock(), seed = 1 } = {},
    heads: SharedHeads | null = null,
  ) {
    this.clock = clock
    const chain = catalog.find(chainId)
    const iface = chain?.interfaces.get(apiInterface)
    if (!chain || !iface) throw new Error(`no spec of ${chainId}`)
    this.chain = chain
    const observer = {
      stateChanged() {},
      cooldownBegan() {},
      verificationFailed() {},
      probeSent: (upstream: string) =>
        void this.probes.set(upstream, (this.probes.get(upstream) ?? 0) + 1),
    }
    const make = () => {
      const at = this.transports.length
      const answer = (request: Outgoing) => this.#answer(iface, at, request)
      const transport = new ScriptedTransport(clock, answer)
      this.transports.push(transport)
      return transport
    }
    const configs = Array.from({ length: nodes }, (_, at) => ({
      ...{ name: `node-${at}`, tier: 'primary' as const, chainId, apiInterface },
      nodeUrls: [
        nodeUrlConfig(`http://${at}.test`),
        ...(sockets ? [nodeUrlConfig(`ws://${at}.test`, { skipVerifications: ['*'] })] : []),
      ],
    }))
    this.pool = createPool(configs, {
      ...{ chain, iface, clock, observer, maxSessions: 10, failureThreshold: 5 },
      tracker: new ChainTracker({ chain, clock }),
      config: { now: { strategy: 'balanced' } },
      random: seededRandom(seed),
      createTransport: make,
      createSocketTransport: () => new SilentSocket(),
    })
    this.watch = new Watch({
      ...{ pool: this.pool, iface, chain, clock, observer, dialect: dialects[apiInterface] },
      ...{ healthCheckIntervalMs: 300_000, livenessProbeIntervalMs: null },
      ...{ epochDurationMs: 900_000, random: seededRandom(seed + 1) },
      heads,
    })
    watches.push(this.watch)
    this.watch.start((error) => {
      throw error
    })
  }

  get height(): number {
    return 1_000 + Math.floor((this.clock.nowMs() * this.pace) / this.chain.blockTimeMs)
  }

  get states() {
    return this.pool.snapshot().upstreams.map(({ state }) => state)
  }

  /** Number of requests per node. */
  get asked(): readonly number[] {
    return this.transports.map(({ requests }) => requests.length)
  }

  /** Advances the clock with a client call in each interval. */
  async advanceWithCalls(ms: number, everyMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += everyMs) {
      void this.watch.onRequest(this.clock.nowMs())
      await this.clock.advance(everyMs)
    }
  }

  /** Builds one document with the values that each probe of the router reads. */
  #answer(iface: ChainInterface, at: number, request: Outgoing): ScriptedAnswer {
    if (this.dead.has(at)) return { fault: 'refused' }
    const { apiInterface, latestBlock, syncing, latestTime, verifications } = iface
    const head = this.stopped.get(at) ?? this.height - (this.behind.get(at) ?? 0)
    const hex = (value: number) => `0x${value.toString(16)}`
    const isHex = latestBlock?.result.encoding === 'hex'
    const seconds = Math.floor(
      (this.clock.wallMs() - (this.height - head) * this.chain.blockTimeMs) / 1_000,
    )
    const questions: readonly (readonly [ProbeCall | null, unknown])[] = [
      [latestBlock, isHex ? hex(head) : head],
      [syncing, false],
      [latestTime, isHex ? hex(seconds) : seconds],
      ...verifications.map(({ call, expected }) => [call, expected ?? 'any'] as const),
    ]
    let document: unknown
    for (const [call, value] of questions) {
      if (call === null || !isSame(dialects[apiInterface].ask(call), request)) continue
      document = put(document, call.result.path, value)
    }
    const answer = apiInterface === 'rest' ? document : { jsonrpc: '2.0', id: 1, result: document }
    return { body: JSON.stringify(answer) }
  }
}

function isSame(one: Outgoing, other: Outgoing): boolean {
  const text = ({ verb, path, body }: Outgoing) =>
    `${verb} ${path} ${body instanceof Uint8Array ? Buffer.from(body).toString() : ''}`
  return text(one) === text(other)
}

function put(
  holder: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (key === undefined) return value
  const members = (holder ?? {}) as Record<string, unknown>
  return { ...members, [key]: put(members[key], rest, value) }
}

/** Polls of one node per day, with a busy client and without clients. */
const chains: readonly (readonly [
  id: string,
  iface: ApiInterface,
  busy: number,
  atRest: number,
])[] = [
  ['ETH1', 'jsonrpc', 7_200, 360],
  ['BTC', 'jsonrpc', 5_760, 288],
  ['PERPEVM', 'jsonrpc', 86_400, 4_320],
  ['SLOTCHAIN', 'jsonrpc', 86_400, 4_320],
  ['MOVECHAIN', 'rest', 86_400, 4_320],
  ['HUBCHAIN', 'rest', 14_400, 720],
  ['HUBCHAIN', 'tendermintrpc', 14_400, 720],
]

describe('calls to a node per day', () => {
  it.each(chains)(
    '%s %s: %i polls with clients, %i without',
    async (id, apiInterface, busy, atRest) => {
      const measured = async (withCalls: boolean) => {
        const fixture = new Fixture(id, apiInterface)
        const { clock, probes } = fixture
        const advance = (ms: number) =>
          withCalls ? fixture.advanceWithCalls(ms, 1_000) : clock.advance(ms)
        await advance(hourMs)
        const before = probes.get('node-0') ?? 0
        await advance(6 * hourMs)
        return 4 * ((probes.get('node-0') ?? 0) - before)
      }
      const [withClients, without] = [await measured(true), await measured(false)]
      // Health checks every five minutes add to the polls.
      const checks = 288 * 4
      expect(withClients).toBeGreaterThan(busy * 0.98)
      expect(withClients).toBeLessThan(busy * 1.02 + checks)
      expect(without).toBeGreaterThan(atRest * 0.98)
      expect(without).toBeLessThan(atRest * 1.02 + checks)
      expect(withClients / without).toBeGreaterThan(10)
    },
  )
})

describe('a node that lags', () => {
  it.each([
    ['ETH1', 'jsonrpc'],
    ['SLOTCHAIN', 'jsonrpc'],
    ['BTC', 'jsonrpc'],
    ['HUBCHAIN', 'tendermintrpc'],
    ['MOVECHAIN', 'rest'],
  ] as const)('%s: is asked little more often than a healthy one', async (id, apiInterface) => {
    for (const standsStill of [true, false]) {
      const fixture = new Fixture(id, apiInterface)
      if (standsStill) fixture.stopped.set(0, 900)
      else fixture.behind.set(0, 100)
      await fixture.advanceWithCalls(120_000, 1_000)
      const before = fixture.asked
      await fixture.advanceWithCalls(600_000, 1_000)
      const [lagging = 0, healthy = 0] = fixture.asked.map((count, at) => count - before[at]!)
      expect(fixture.states).toEqual(['lagging', 'eligible'])
      // Two calls every half minute query its progress.
      expect(lagging).toBeLessThanOrEqual(healthy + 2 * 20 + 2)
    }
  })
})

describe('a pool at rest', () => {
  it('polls all nodes at the same time, so that their heads are comparable', async () => {
    const fixture = new Fixture('ETH1', 'jsonrpc', { nodes: 4 })
    const { clock, pool } = fixture
    await clock.advance(hourMs)
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000)
      const heads = pool.upstreams.map(({ latest }) => latest!.atMs)
      expect(Math.max(...heads) - Math.min(...heads)).toBeLessThan(100)
      expect(fixture.states).toEqual(Array(4).fill('eligible'))
    }
  })

  it('polls all heads at the first call and at the usual pace afterwards', async () => {
    const fixture = new Fixture('ETH1', 'jsonrpc', { nodes: 3 })
    const { clock, watch, pool } = fixture
    await clock.advance(10 * hourMs + 100_000)
    const before = fixture.asked
    expect(watch.onRequest(clock.nowMs())).toBeInstanceOf(Promise)
    await clock.advance(20)
    expect(fixture.asked).toEqual(before.map((count) => count + 1))
    expect(pool.tip).toBe(fixture.height)
    expect(fixture.states).toEqual(['eligible', 'eligible', 'eligible'])
    // Further calls do not wait.
    expect(watch.onRequest(clock.nowMs())).toBeNull()
    const woken = fixture.asked
    await fixture.advanceWithCalls(120_000, 12_000)
    for (const [at, count] of fixture.asked.entries()) {
      expect(count - woken[at]!).toBeGreaterThanOrEqual(9)
      expect(count - woken[at]!).toBeLessThanOrEqual(15)
    }
  })

  it.each([
    ['as fast as its spec', 1],
    ['six times faster than its spec', 6],
  ])('marks no node as lagging on a chain that is %s', async (_, pace) => {
    const fixture = new Fixture('ETH1', 'jsonrpc', { nodes: 3 })
    fixture.pace = pace
    const { clock, watch, pool } = fixture
    for (let round = 0; round < 20; round++) {
      await clock.advance(1_700_000 + round * 10_000)
      expect(fixture.states).toEqual(['eligible', 'eligible', 'eligible'])
      const woken = watch.onRequest(clock.nowMs())
      await clock.advance(20)
      await woken
      expect(fixture.states).toEqual(['eligible', 'eligible', 'eligible'])
      expect(pool.tip).toBe(fixture.height)
    }
  })

  it('detects a stopped node within one poll, at the latest at the first call', async () => {
    for (const restMs of [hourMs, 20_000]) {
      const fixture = new Fixture('ETH1', 'jsonrpc', { nodes: 3 })
      const { clock, watch } = fixture
      await clock.advance(hourMs)
      fixture.stopped.set(1, fixture.height)
      await clock.advance(restMs)
      if (restMs < hourMs) {
        await clock.advance(150_000)
        void watch.onRequest(clock.nowMs())
        await clock.advance(20)
      }
      expect(fixture.states).toEqual(['eligible', 'lagging', 'eligible'])
    }
  })

  it('disables a dead node without a call, and re-enables it', async () => {
    const fixture = new Fixture('ETH1')
    const { clock } = fixture
    await clock.advance(hourMs)
    fixture.dead.add(0)
    await clock.advance(20 * 12_000 + 60_000)
    expect(fixture.states).toEqual(['disabled', 'eligible'])
    fixture.dead.clear()
    await clock.advance(35_000)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('waits at most a second for a hanging node', async () => {
    const fixture = new Fixture('ETH1')
    const { clock, watch, transports } = fixture
    await clock.advance(hourMs)
    transports[0]!.play(() => ({ hang: true }))
    let isWoken = false
    void watch.onRequest(clock.nowMs())!.then(() => (isWoken = true))
    await clock.advance(999)
    expect(isWoken).toBe(false)
    await clock.advance(1)
    expect(isWoken).toBe(true)
  })

  it('treats a subscription as a client', async () => {
    const fixture = new Fixture('ETH1')
    const { clock, pool } = fixture
    await clock.advance(hourMs)
    pool.tracker.subscriptions = 1
    await clock.advance(30_000)
    const before = fixture.asked
    await clock.advance(hourMs)
    const polls = fixture.asked.map((count, at) => count - before[at]!)
    for (const count of polls) expect(count).toBeGreaterThan(290)
    pool.tracker.subscriptions = 0
    await clock.advance(hourMs)
    const atRest = fixture.asked.map((count, at) => count - before[at]! - polls[at]!)
    for (const count of atRest) expect(count).toBeLessThan(50)
  })

  it('polls only nodes whose WebSocket delivers no heads', async () => {
    const fixture = new Fixture('ETH1', 'jsonrpc', { sockets: true })
    const { clock, pool } = fixture
    pool.tracker.subscriptions = 1
    await clock.advance(30_000)
    const methods = (at: number) =>
      fixture.transports[at]!.requests.filter((text) => text.includes('eth_blockNumber')).length
    const before = [methods(0), methods(1)]
    const [delivering] = pool.upstreams
    for (let block = 0; block < 100; block++) {
      pool.observeHead(delivering!, fixture.height, clock.nowMs(), delivering!.sockets[0]!)
      await clock.advance(12_000)
    }
    expect(methods(0) - before[0]!).toBe(0)
    expect(methods(1) - before[1]!).toBeGreaterThan(90)
    // The WebSocket goes silent.
    await clock.advance(60_000)
    expect(methods(0) - before[0]!).toBeGreaterThan(1)
  })

  it('reports a stalled chain, but not one that was merely not polled', async () => {
    const fixture = new Fixture('ETH1')
    const { clock, pool } = fixture
    for (let minute = 0; minute < 120; minute++) {
      await clock.advance(60_000)
      expect(pool.snapshot().tipAgeMs).toBeLessThan(5 * 12_000)
    }
    const { height } = fixture
    fixture.stopped.set(0, height).set(1, height)
    await clock.advance(hourMs)
    expect(pool.snapshot().tipAgeMs).toBeGreaterThan(hourMs - 500_000)
  })
})

describe('replicas with one store', () => {
  type Watcher = Parameters<HeadStore['watch']>[1]
  const store = (clock: VirtualClock) => {
    const entries = new Map<string, { value: Buffer; untilMs: number }>()
    const watchers: Watcher[] = []
    return {
      isDown: false,
      async get(key: string) {
        if (this.isDown) throw new Error('the store is down')
        const { value, untilMs = 0 } = entries.get(key) ?? {}
        return { value, ttlMs: untilMs - clock.nowMs() }
      },
      async set(key: string, value: Buffer, ttlMs: number) {
        if (this.isDown) throw new Error('the store is down')
        entries.set(key, { value, untilMs: clock.nowMs() + ttlMs })
      },
      async delete(_: string, value: Buffer) {
        if (this.isDown) throw new Error('the store is down')
        for (const { message } of watchers) message({ value })
      },
      watch(_: string, watcher: Watcher) {
        watchers.push(watcher)
      },
    }
  }
  const fleet = (chainId: string, count: number, sockets = false, isOneMachine = false) => {
    const clock = new VirtualClock()
    const keys = store(clock)
    const replicas = Array.from({ length: count }, (_, at) => {
      return new Fixture(
        chainId,
        'jsonrpc',
        { clock, seed: 10 * at + 1, sockets },
        new SharedHeads(keys, chainId, isOneMachine),
      )
    })
    const polls = () =>
      replicas.map(({ probes }) => probes.get('node-0') ?? 0).reduce((sum, each) => sum + each, 0)
    const busy = async (ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += 1_000) {
        for (const { watch } of replicas) void watch.onRequest(clock.nowMs())
        await clock.advance(1_000)
      }
    }
    return { keys, replicas, polls, busy }
  }

  /** Interval of health checks, and their number in a measurement. */
  const [checkMs, checks] = [300_000, 3]

  it.each(['ETH1', 'SLOTCHAIN'])('%s: five replicas poll a node as often as two', async (id) => {
    const { replicas, polls, busy } = fleet(id, 5)
    const single = fleet(id, 1)
    for (const each of [single, { busy, polls }]) await each.busy(checkMs)
    const before = [single.polls(), polls()]
    for (const each of [single, { busy, polls }]) await each.busy(checks * checkMs)
    const [alone, together] = [single.polls() - before[0]!, polls() - before[1]!]
    // Each replica runs its own health checks.
    expect(together - 5 * checks).toBeLessThan(2 * alone)
    for (const replica of replicas) {
      const staleBlocks = Math.ceil(1.5 * Math.max(1, 1_000 / replica.chain.blockTimeMs))
      expect(replica.height - replica.pool.tracker.tip!).toBeLessThanOrEqual(staleBlocks)
      expect(replica.states).toEqual(['eligible', 'eligible'])
    }
  })

  it.each(['ETH1', 'SLOTCHAIN'])('%s: four workers poll and verify as often as one', async (id) => {
    const [workers, single] = [fleet(id, 4, false, true), fleet(id, 1)]
    for (const each of [single, workers]) await each.busy(checkMs)
    const before = [single.polls(), workers.polls()]
    for (const each of [single, workers]) await each.busy(checks * checkMs)
    const [alone, together] = [single.polls() - before[0]!, workers.polls() - before[1]!]
    expect(together / alone).toBeLessThan(1.1)
    for (const { states } of workers.replicas) expect(states).toEqual(['eligible', 'eligible'])
  })

  it.each([
    ['HTTP', true],
    ['a WebSocket', false],
  ])('a head that one replica gets by %s reaches all replicas', async (_, isHttp) => {
    const { replicas, busy } = fleet('ETH1', 2, true)
    await busy(60_000)
    const [{ pool, clock, height }, second] = replicas as [Fixture, Fixture]
    expect(second.pool.tracker.highestShown).toBe(height - 1)
    const { urls, sockets } = pool.upstreams[0]!
    pool.observeHead(pool.upstreams[0]!, height, clock.nowMs(), isHttp ? urls[0]! : sockets[0]!)
    await clock.advance(isHttp ? 0 : 50)
    expect(second.pool.tracker.highestShown).toBe(height)
  })

  it('a replica detects a stalled node that another one polls', async () => {
    const { replicas, busy } = fleet('ETH1', 2)
    await busy(60_000)
    for (const replica of replicas) replica.stopped.set(0, replica.height)
    await busy(300_000)
    for (const replica of replicas) expect(replica.states).toEqual(['lagging', 'eligible'])
  })

  it('a replica detects an unreachable node that another one polls', async () => {
    const { replicas, busy } = fleet('ETH1', 2)
    await busy(60_000)
    replicas[0]?.dead.add(0)
    await busy(600_000)
    expect(replicas.map(({ states }) => states[0])).toEqual(['disabled', 'eligible'])
  })

  it('without the store each replica polls alone', async () => {
    const { keys, polls, busy } = fleet('ETH1', 2)
    keys.isDown = true
    const alone = fleet('ETH1', 1)
    await busy(hourMs)
    await alone.busy(hourMs)
    expect(polls()).toBeGreaterThan(1.8 * alone.polls())
  })
})
