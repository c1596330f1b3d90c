// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { anyUpstream } from './wanted.ts'
import { afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Secret } from '../config/secret.ts'
import type { NodeUrlConfig } from '../config/types.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import type { StateRecord } from './observer.ts'
import { createPool, type Pool } from './pool.ts'
import { createNoSocket } from './testing/no-sockets.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport, type ScriptedAnswer } from './testing/scripted-transport.ts'
import { dialects } from './dialect.ts'
import { Watch, type WatchOptions } from './watch.ts'
import type { NodeUrl } from './node-url.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  const ethereum = (await loadCatalog([])).find('ETH1')
  const jsonrpc = ethereum?.interfaces.get('jsonrpc')
  if (!ethereum || !jsonrpc) throw new Error('the bundled specs lack ETH1')
  chain = ethereum
  iface = jsonrpc
})

/** How a node answers probes of the router. */
interface NodeState {
  chainId?: string
  block?: number
  /** Age of its latest block in seconds. */
  ageSeconds?: number
  isSyncing?: boolean
  /** Replaces every answer. */
  fault?: ScriptedAnswer
  /** Replaces the answer to this method. */
  faults?: Readonly<Record<string, ScriptedAnswer>>
  /** Methods that the node does not have. */
  lacks?: readonly string[]
}

const watches: Watch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

class WatchFixture {
  readonly clock = new VirtualClock()
  readonly events: string[] = []
  readonly transports: ScriptedTransport[] = []
  readonly pool: Pool
  readonly watch: Watch
  readonly #states: NodeState[]

  /** One upstream per inner list, with one URL per state. */
  constructor(
    upstreams: readonly (readonly (NodeState & { url?: Partial<NodeUrlConfig> })[])[],
    options: Partial<WatchOptions> = {},
  ) {
    const { clock } = this
    this.#states = upstreams.flat()
    const observer = {
      stateChanged: (name: string, from: string, { state }: StateRecord) =>
        this.events.push(`${name}: ${from} > ${state}`),
      cooldownBegan: () => {},
      verificationFailed: (name: string, _url: string, verification: string, why: string) =>
        this.events.push(`${name} ${verification}: ${why}`),
    }
    let made = 0
    this.pool = createPool(
      upstreams.map((urls, index) => ({
        name: 'abcdef'.charAt(index),
        tier: 'primary',
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        nodeUrls: urls.map(({ url }, at) => nodeUrlConfig(`http://${index}-${at}.test`, url)),
      })),
      {
        chain,
        iface,
        tracker: new ChainTracker({ chain, clock }),
        config: { now: { strategy: 'balanced' } },
        maxSessions: 10,
        clock,
        random: seededRandom(1),
        observer,
        failureThreshold: 5,
        createSocketTransport: createNoSocket,
        createTransport: () => {
          const state = this.#states[made++]!
          const transport = new ScriptedTransport(clock, ({ body }) =>
            answerOf(
              state,
              JSON.parse(Buffer.from(body as Uint8Array).toString()) as Request,
              clock.wallMs(),
            ),
          )
          this.transports.push(transport)
          return transport
        },
      },
    )
    this.watch = new Watch({
      pool: this.pool,
      iface,
      dialect: dialects.jsonrpc,
      chain,
      healthCheckIntervalMs: 300_000,
      livenessProbeIntervalMs: null,
      epochDurationMs: 900_000,
      clock,
      random: seededRandom(2),
      observer,
      ...options,
    })
    watches.push(this.watch)
    this.watch.start((error) => {
      throw error
    })
  }

  /** All URLs, so that tests can change them. */
  get nodes(): readonly NodeState[] {
    return this.#states
  }

  get states(): readonly string[] {
    return this.pool.snapshot().upstreams.map(({ state }) => state)
  }

  /** All requests to a URL. */
  asked(url: number): number {
    return this.transports[url]!.requests.length
  }
}

interface Request {
  readonly method: string
}

function answerOf(state: NodeState, { method }: Request, wallMs: number): ScriptedAnswer {
  const fault = state.fault ?? state.faults?.[method]
  if (fault) return fault
  if (state.lacks?.includes(method))
    return body({ error: { code: -32601, message: 'the method does not exist' } })
  if (method === 'eth_chainId') return body({ result: state.chainId ?? '0x1' })
  if (method === 'eth_getBlockByNumber') {
    const seconds = Math.floor(wallMs / 1_000) - (state.ageSeconds ?? 0)
    return body({ result: { timestamp: `0x${seconds.toString(16)}` } })
  }
  if (method === 'eth_syncing')
    return body({ result: state.isSyncing === true && { highestBlock: '0xffff' } })
  if (method === 'eth_blockNumber')
    return body({ result: `0x${(state.block ?? 100).toString(16)}` })
  return body({ result: '0x00' })
}

function body(content: object): ScriptedAnswer {
  return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...content }) }
}

const refused: ScriptedAnswer = { fault: 'refused' }

describe('a node that is not in sync', () => {
  it.each<[string, NodeState]>([
    ['reports it', { isSyncing: true, ageSeconds: 200_000 }],
    [
      'reports it without the age of its block',
      { isSyncing: true, lacks: ['eth_getBlockByNumber'] },
    ],
    ['has an old block', { ageSeconds: 200_000 }],
    [
      'has an old block and does not support the sync query',
      { ageSeconds: 200_000, lacks: ['eth_syncing'] },
    ],
  ])(
    'gets no reads of the latest state when it %s, in any order of answers',
    async (_name, state) => {
      for (const isFirst of [true, false]) {
        const node = { ...state, block: 230_719 }
        const peer = { block: 1_320_320 }
        const fixture = new WatchFixture(isFirst ? [[node], [peer]] : [[peer], [node]])
        const states = isFirst ? ['lagging', 'eligible'] : ['eligible', 'lagging']
        await fixture.clock.advance(1_000)
        for (let minute = 0; minute < 10; minute++) {
          await fixture.clock.advance(60_000)
          node.block += 3
          expect(fixture.states).toEqual(states)
          expect(fixture.pool.tip).toBe(1_320_320)
        }
      }
    },
  )

  it('gets reads again soon after it has caught up', async () => {
    const node: NodeState = { block: 230_719, isSyncing: true, ageSeconds: 200_000 }
    const fixture = new WatchFixture([[node], [{ block: 1_320_320 }]])
    await fixture.clock.advance(1_000)
    Object.assign(node, { block: 1_320_320, isSyncing: false, ageSeconds: 3 })
    await fixture.clock.advance(2 * chain.blockTimeMs)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('serves if there is no other node', async () => {
    const fixture = new WatchFixture([[{ block: 5, isSyncing: true }]])
    await fixture.clock.advance(1_000)
    expect(fixture.pool.hasEligible).toBe(true)
    expect(fixture.pool.tip).toBe(5)
  })

  it('counts as in sync while it only indexes old blocks', async () => {
    const node = { block: 100, isSyncing: true, ageSeconds: 5 }
    const fixture = new WatchFixture([[node], [{ block: 100 }]])
    await fixture.clock.advance(1_000)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('gets each query only once if it supports neither', async () => {
    const lacks = ['eth_syncing', 'eth_getBlockByNumber']
    const fixture = new WatchFixture([[{ lacks }]])
    await fixture.clock.advance(60_000)
    const requests = fixture.transports[0]!.requests.map(
      (sent) => (JSON.parse(sent) as Request).method,
    )
    expect(requests.filter((method) => lacks.includes(method)).toSorted()).toEqual(lacks.toSorted())
  })
})

test('a health check resets the learned history of a node', async () => {
  const { clock, pool } = new WatchFixture([[{}]])
  await clock.advance(1_000)
  pool.upstreams[0]!.urls[0]!.history.lacked('logs', 50)
  const shown = () => pool.snapshot().upstreams[0]!.oldestBlocks
  expect(shown()).toEqual({ logs: 51 })
  // Health checks are five minutes apart, with 10 % jitter.
  await clock.advance(200_000)
  expect(shown()).toEqual({ logs: 51 })
  await clock.advance(200_000)
  expect(shown()).toEqual({})
})

describe('start-up verification', () => {
  it('admits an upstream of the right chain and learns its head', async () => {
    const { clock, pool, states } = new WatchFixture([[{ block: 123 }]])
    expect(states).toEqual(['unverified'])
    await clock.advance(100)
    expect(pool.snapshot()).toMatchObject({
      tip: 123,
      upstreams: [{ state: 'eligible', latestBlock: 123, lagBlocks: 0 }],
    })
  })

  it('masks keys of a URL in the reason for a state', async () => {
    const key = 'k3yk3yk3yk3yk3yk3y'
    const url = { authHeaders: new Map([['x-key', new Secret(key, '***', [key])]]) }
    const { clock, pool, events } = new WatchFixture([[{ chainId: `no ${key}`, url }], [{}]])
    await clock.advance(100)
    const masked = `chain-id: expected 0x1, the node reported no ${'*'.repeat(key.length)}`
    expect(pool.snapshot().upstreams[0]?.why).toBe(`http://0-0.test is not used: ${masked}`)
    expect(events).toContain(`a ${masked}`)
  })

  it('rejects an upstream of another chain with the reason', async () => {
    const fixture = new WatchFixture([[{ chainId: '0x5' }], [{}]])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['rejected', 'eligible'])
    expect(fixture.events).toContain('a chain-id: expected 0x1, the node reported 0x5')
  })

  it.each([
    ['one refused poll', refused, 13_300],
    ['one reset poll', { fault: 'reset' } as const, 13_300],
    ['a minute', refused, 60_000],
  ])(
    'rejects a node that returns after %s as one of another chain of the same height',
    async (_, fault, awayMs) => {
      const state: NodeState = {}
      const fixture = new WatchFixture([[state], [{}]], { healthCheckIntervalMs: 3_600_000 })
      await fixture.clock.advance(100)
      state.fault = fault
      await fixture.clock.advance(awayMs)
      delete state.fault
      state.chainId = '0x89'
      await fixture.clock.advance(15_000)
      expect(fixture.states).toEqual(['rejected', 'eligible'])
      expect(fixture.events).toContain('a chain-id: expected 0x1, the node reported 0x89')
      delete state.chainId
      await fixture.clock.advance(31_000)
      expect(fixture.states).toEqual(['eligible', 'eligible'])
    },
  )

  it('verifies a URL that fails now and then every 10 s, and rejects it when it changes', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const [url] = upstream!.urls
    const failOnce = () => {
      upstream!.failed(url!, { reason: 'connection-reset', weight: 1 }, true)
      upstream!.succeeded(url!, 1)
    }
    for (let each = 0; each < 600; each++) {
      failOnce()
      await fixture.clock.advance(100)
    }
    const checks = fixture.transports[0]!.requests.filter((sent) => sent.includes('eth_chainId'))
    expect(checks.length).toBeLessThanOrEqual(1 + 7)
    state.chainId = '0x89'
    failOnce()
    await fixture.clock.advance(10_100)
    expect(fixture.states).toEqual(['rejected'])
  })

  it.each([
    ['a limit of its provider', body({ error: { code: -32005, message: 'rate limit exceeded' } })],
    ['a temporary failure', body({ error: { code: -32603, message: 'Internal error' } })],
  ])('does not mistake %s for another chain', async (_name, fault) => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]], { healthCheckIntervalMs: 60_000 })
    await fixture.clock.advance(100)
    state.fault = fault
    await fixture.clock.advance(70_000)
    expect(fixture.states).not.toContain('rejected')
    delete state.fault
    await fixture.clock.advance(60_000)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('admits an upstream whose add-on cannot be verified', async () => {
    const forbidden = { status: 403, body: 'not on your plan' }
    const fixture = new WatchFixture([
      [{ url: { addons: ['trace'] }, faults: { trace_block: forbidden } }],
    ])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible'])
    expect(fixture.pool.upstreams[0]!.serves(['trace'])).toBe(false)
    expect(fixture.pool.upstreams[0]!.trouble).toMatch(/ has not shown trace: trace: /)
  })

  it('shows that a node lacks old data although it declares archive', async () => {
    const gone = body({ error: { code: -32000, message: 'missing trie node 1b7f' } })
    const state: NodeState = { faults: { eth_getBalance: gone } }
    const fixture = new WatchFixture([[Object.assign(state, { url: { addons: ['archive'] } })]])
    await fixture.clock.advance(100)
    const why = () => fixture.pool.snapshot().upstreams[0]!.why
    const words = 'state-missing (code -32000: missing trie node 1b7f)'
    const text = `http://0-0.test declares archive, but lacks old data: pruning: ${words}`
    expect([fixture.states[0], why()]).toEqual(['eligible', text])
    delete state.faults
    await fixture.clock.advance(330_000)
    expect(why()).toBeNull()
  })

  it('keeps a verified add-on while its method fails', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[Object.assign(state, { url: { addons: ['trace'] } })]])
    await fixture.clock.advance(250_000)
    state.faults = { trace_block: { status: 503, body: 'busy' } }
    await fixture.clock.advance(100_000)
    expect(fixture.events.join()).toMatch(/a trace/)
    expect(fixture.pool.upstreams[0]!.serves(['trace'])).toBe(true)
    state.lacks = ['trace_block']
    delete state.faults
    await fixture.clock.advance(330_000)
    expect(fixture.pool.upstreams[0]!.serves(['trace'])).toBe(false)
  })

  it('soon retries an add-on that could not be verified', async () => {
    const faults: Record<string, ScriptedAnswer> = { trace_block: { status: 503, body: 'busy' } }
    const fixture = new WatchFixture([[{ url: { addons: ['trace', 'debug'] }, faults }]])
    await fixture.clock.advance(10_000)
    const [upstream] = fixture.pool.upstreams
    expect(upstream!.serves(['trace'])).toBe(false)
    expect(upstream!.serves(['debug'])).toBe(true)
    delete faults['trace_block']
    await fixture.clock.advance(10_000)
    expect(upstream!.serves(['trace'])).toBe(true)
  })

  it('probes a disabled upstream even if its add-on cannot be verified', async () => {
    const state: NodeState = { faults: { trace_block: { status: 403, body: 'not on your plan' } } }
    const fixture = new WatchFixture([[Object.assign(state, { url: { addons: ['trace'] } })]])
    await fixture.clock.advance(200_000)
    const [upstream] = fixture.pool.upstreams
    upstream!.availability.failed(5, 'reset')
    await fixture.clock.advance(1_200)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('does not re-enable a node that fails every probe', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    upstream!.availability.failed(5, 'reset')
    state.fault = body({ error: { code: -32603, message: 'Internal error' } })
    await fixture.clock.advance(60_000)
    expect(fixture.states).toEqual(['disabled'])
  })

  it('does not re-enable a node that does not report its block', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    state.lacks = ['eth_blockNumber']
    fixture.pool.upstreams[0]!.availability.failed(5, 'reset')
    await fixture.clock.advance(60_000)
    expect(fixture.states).toEqual(['disabled'])
  })

  it('retries a rejected upstream and admits it once it passes', async () => {
    const state: NodeState = { chainId: '0x5' }
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    state.chainId = '0x1'
    await fixture.clock.advance(60_000)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('compares numbers in any notation', async () => {
    const fixture = new WatchFixture([[{ chainId: '0x01' }], [{ chainId: '1' }]])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('skips the configured verifications', async () => {
    const fixture = new WatchFixture([
      [{ chainId: '0x5', url: { skipVerifications: ['chain-id'] } }],
      [{ chainId: '0x5', url: { skipVerifications: ['*'] } }],
    ])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('retries an upstream that is down forever, after 1 s doubling to 30 s', async () => {
    const state: NodeState = { fault: refused }
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(3_600_000)
    const requests = fixture.asked(0)
    expect(requests).toBeGreaterThan(100)
    expect(requests).toBeLessThan(160)
    delete state.fault
    await fixture.clock.advance(35_000)
    expect(fixture.states).toEqual(['eligible'])
  })

  it.each([
    ['5 s', null, 5_000],
    ['the timeout of the URL', 700, 700],
  ])('waits %s for an answer', async (_, timeoutMs, ms) => {
    const fixture = new WatchFixture([[{ fault: { hang: true }, url: { timeoutMs } }]])
    await fixture.clock.advance(ms - 1)
    expect(fixture.transports[0]!.aborted).toBe(0)
    await fixture.clock.advance(1)
    expect(fixture.transports[0]!.aborted).toBe(1)
  })

  it('excludes one URL without excluding its upstream', async () => {
    const fixture = new WatchFixture([[{ chainId: '0x5' }, {}]])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible'])
    expect(fixture.pool.upstreams[0]!.urlsFor([])).toHaveLength(1)
  })

  it('admits an upstream as soon as one of its URLs passes', async () => {
    const fixture = new WatchFixture([[{ fault: { hang: true } }, {}]])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('removes an add-on from a URL that lacks it, with the reason', async () => {
    const fixture = new WatchFixture([
      [{ url: { addons: ['trace'] }, lacks: ['trace_block'] }],
      [{ url: { addons: ['trace'] } }],
    ])
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
    expect(fixture.pool.upstreams.map((each) => each.serves(['trace']))).toEqual([false, true])
    expect(fixture.events.join()).toMatch(
      /a .*: method-not-found \(code -32601: the method does not exist\)/,
    )
  })

  it('keeps an add-on whose optional methods are missing, with the reason', async () => {
    const fixture = new WatchFixture([
      [{ url: { addons: ['debug'] }, lacks: ['debug_getRawHeader'] }],
    ])
    await fixture.clock.advance(100)
    expect(fixture.pool.upstreams[0]!.serves(['debug'])).toBe(true)
    expect(fixture.events.join()).toMatch(
      /a .*: method-not-found \(code -32601: the method does not exist\)/,
    )
  })

  it('verifies an add-on only where it is declared', async () => {
    const fixture = new WatchFixture([[{}]])
    await fixture.clock.advance(100)
    expect(fixture.transports[0]!.requests.join()).not.toContain('debug_')
  })

  it('sanitizes values from nodes in the log', async () => {
    const fixture = new WatchFixture([[{ chainId: `0x5\n{"level":"error"}${'x'.repeat(500)}` }]])
    await fixture.clock.advance(100)
    for (const event of fixture.events) expect(event).toMatch(/^[\x20-\x7e]{1,160}$/)
  })
})

describe('the watch', () => {
  it('re-enables a disabled upstream after a successful probe', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    state.fault = refused
    const [upstream] = fixture.pool.upstreams
    for (let each = 0; each < 5; each++)
      upstream!.failed(upstream!.urls[0]!, { reason: 'connection-reset', weight: 1 })
    expect(fixture.states).toEqual(['disabled'])
    await fixture.clock.advance(10_000)
    expect(fixture.states).toEqual(['disabled'])
    delete state.fault
    await fixture.clock.advance(35_000)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('does not reset failures of a node that only serves its block number', async () => {
    const fixture = new WatchFixture([[{}]])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const fail = () => {
      upstream!.failed(upstream!.urls[0]!, { reason: 'error-page', weight: 1 })
    }
    for (let each = 0; each < 4; each++) fail()
    const requests = fixture.asked(0)
    await fixture.clock.advance(60_000)
    expect(fixture.asked(0)).toBeGreaterThan(requests)
    fail()
    expect(fixture.states).toEqual(['disabled'])
  })

  it.each<[string, ScriptedAnswer | undefined, string]>([
    ['and clears one that answers', undefined, 'eligible'],
    ['and disables one that is down', refused, 'disabled'],
    ['and disables one that fails everything', { status: 500, body: 'oops' }, 'disabled'],
  ])('probes an upstream at once when its calls fail, %s', async (_, fault, state) => {
    const node: NodeState = {}
    const fixture = new WatchFixture([[node]])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const fail = () => {
      for (let each = 0; each < 9; each++)
        upstream!.failed(upstream!.urls[0]!, { reason: 'http-server-error', weight: 1 }, true)
    }
    upstream!.succeeded(upstream!.urls[0]!, 1)
    if (fault) node.fault = fault
    fail()
    expect(fixture.states).toEqual(['eligible'])
    expect(upstream!.availability.isOnTrial).toBe(true)
    await fixture.clock.advance(50)
    expect(upstream!.availability.isOnTrial).toBe(state === 'disabled')
    expect(fixture.states).toEqual([state])
    fail()
    expect(fixture.states).toEqual([state])
  })

  it('restarts the probe backoff at each outage', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const disable = () => {
      for (let each = 0; each < 5; each++)
        upstream!.failed(upstream!.urls[0]!, { reason: 'connection-reset', weight: 1 })
    }
    state.fault = refused
    disable()
    await fixture.clock.advance(300_000)
    delete state.fault
    await fixture.clock.advance(60_000)
    disable()
    expect(fixture.states).toEqual(['disabled'])
    await fixture.clock.advance(1_200)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('re-enables disabled upstreams at the epoch, which all replicas share', async () => {
    const state: NodeState = {}
    // At the start of the clock, in 2026, 6 min of the 11 min epoch since 1970 have passed.
    const fixture = new WatchFixture([[state]], { epochDurationMs: 660_000 })
    await fixture.clock.advance(100)
    state.fault = { hang: true }
    const [upstream] = fixture.pool.upstreams
    for (let each = 0; each < 5; each++)
      upstream!.failed(upstream!.urls[0]!, { reason: 'connection-reset', weight: 1 })
    await fixture.clock.advance(299_000)
    expect(fixture.states).toEqual(['disabled'])
    fixture.events.length = 0
    await fixture.clock.advance(1_000)
    expect(fixture.events).toContain('a: disabled > eligible')
  })

  it('follows the tip and skips lagging upstreams until they have caught up', async () => {
    const slow: NodeState = { block: 100 }
    const states: NodeState[] = [{ block: 100 }, { block: 100 }, slow]
    const fixture = new WatchFixture(states.map((state) => [state]))
    await fixture.clock.advance(100)
    for (const state of states.slice(0, 2)) state.block = 110
    await fixture.clock.advance(20_000)
    expect(fixture.pool.tip).toBe(110)
    expect(fixture.states).toEqual(['eligible', 'eligible', 'lagging'])
    slow.block = 110
    await fixture.clock.advance(20_000)
    expect(fixture.states).toEqual(['eligible', 'eligible', 'eligible'])
  })

  it('prefers a URL that a probe has reached to one that is still down', async () => {
    const states: NodeState[] = [{}, {}]
    const fixture = new WatchFixture([states])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const [first, second] = upstream!.urls
    const fail = (url: NodeUrl) => upstream!.failed(url, { reason: 'connection-reset', weight: 1 })
    for (let each = 0; each < 5; each++) for (const url of [first!, second!]) fail(url)
    states[1]!.fault = { fault: 'refused' }
    expect(fixture.states).toEqual(['disabled'])
    await fixture.clock.advance(1_200)
    expect(fixture.states).toEqual(['eligible'])
    fail(first!)
    expect(upstream!.urlsFor([])[0]).toBe(first)
  })

  it.each([
    ['the URL that gets the calls', 0, 1],
    ['a spare URL, which gets none', 1, 1],
    ['a URL, until it works again', 0, 2],
  ])('reports the loss of %s within a minute', async (_name, at, ends) => {
    const states: NodeState[] = [{}, {}]
    const fixture = new WatchFixture([states])
    await fixture.clock.advance(100)
    const [upstream] = fixture.pool.upstreams
    const changes: string[] = []
    upstream!.onUrl = ({ position, why }) => changes.push(`${position}: ${why}`)
    const serving = () => fixture.pool.snapshot().upstreams[0]!.urls.map(({ why }) => why === null)
    const requests = () => fixture.transports[at]!.requests.length
    expect(serving()).toEqual([true, true])
    states[at]!.fault = { fault: 'tls' }
    const before = requests()
    void fixture.watch.onRequest(fixture.clock.nowMs())
    await fixture.clock.advance(30_000)
    void fixture.watch.onRequest(fixture.clock.nowMs())
    await fixture.clock.advance(35_000)
    expect(requests() - before).toBeLessThan(12)
    expect(serving()[at]).toBe(false)
    expect(fixture.states).toEqual(['eligible'])
    expect(upstream!.trouble).toMatch(
      /^1 of 2 URLs serving; URL \d \(http:\S+\) since \d\d:\d\d:\d\d: \d failures in a row, the last: probe: tls-failed \(scripted\)$/,
    )
    const first = `${at + 1}: 2 failures in a row, the last: probe: tls-failed (scripted)`
    expect(changes).toEqual([first])
    if (ends === 1) return
    delete states[at]!.fault
    await fixture.clock.advance(31_000)
    expect(serving()).toEqual([true, true])
    expect(changes).toEqual([first, `${at + 1}: null`])
    expect(upstream!.trouble).toBeNull()
  })

  it.each([
    ['a spare URL', [100, 75], true, 2],
    ['the first URL', [75, 100], true, 1],
    ['the first URL of the only upstream', [75, 100], false, 1],
    ['one of two URLs behind the tip', [75, 50], true, 2],
  ])(
    'names %s that lags, within 75 s, and the other one serves',
    async (_, blocks, hasPeer, at) => {
      const urls = blocks.map((block): NodeState => ({ block }))
      const fixture = new WatchFixture(hasPeer ? [urls, [{ block: 100 }]] : [urls])
      const changes: string[] = []
      const [upstream] = fixture.pool.upstreams
      upstream!.onUrl = ({ position, why }) => changes.push(`${position}: ${why}`)
      const run = async (seconds: number) => {
        for (let each = 0; each < seconds; each += 5) {
          void fixture.watch.onRequest(fixture.clock.nowMs())
          await fixture.clock.advance(5_000)
        }
      }
      await run(75)
      const best = Math.max(...blocks)
      const isAtTip = best === 100
      expect(changes).toEqual([`${at}: lags 25 blocks behind another URL`])
      expect(upstream!.trouble).toMatch(/^1 of 2 URLs serving; URL \d .* since .*: lags 25 blocks /)
      expect(upstream!.latest?.block).toBe(best)
      expect(fixture.states[0]).toBe(isAtTip ? 'eligible' : 'lagging')
      expect(upstream!.urlsFor([])[0]!.position).toBe(3 - at)
      const requests = fixture.asked(at - 1)
      await run(300)
      expect(fixture.asked(at - 1) - requests).toBeLessThan(15)
      if (!isAtTip) return
      for (const each of urls) each.block = 100
      await run(45)
      expect(changes.slice(1)).toEqual([`${at}: null`])
      expect(fixture.states[0]).toBe('eligible')
    },
  )

  it('does not take a spare URL of another chain for the head of its upstream', async () => {
    const fixture = new WatchFixture([[{}, {}]])
    await fixture.clock.advance(100)
    Object.assign(fixture.nodes[1]!, { chainId: '0x89', block: 150 })
    for (let each = 0; each < 12; each++) {
      void fixture.watch.onRequest(fixture.clock.nowMs())
      await fixture.clock.advance(5_000)
    }
    const [first, second] = fixture.pool.snapshot().upstreams[0]!.urls
    expect([first!.why, second!.why]).toEqual([null, expect.stringContaining('reported 0x89')])
    expect(fixture.pool.tip).toBe(100)
  })

  it('polls upstreams with 10 % jitter', async () => {
    const fixture = new WatchFixture([[{}], [{}], [{}]])
    await fixture.clock.advance(100)
    const before = [0, 1, 2].map((url) => fixture.asked(url))
    const sentMs = new Map<number, number>()
    while (sentMs.size < 3 && fixture.clock.nowMs() < 20_000) {
      await fixture.clock.advance(10)
      for (const url of [0, 1, 2])
        if (fixture.asked(url) > before[url]! && !sentMs.has(url))
          sentMs.set(url, fixture.clock.nowMs())
    }
    expect(new Set(sentMs.values()).size).toBe(3)
    for (const ms of sentMs.values()) {
      expect(ms).toBeGreaterThanOrEqual(chain.blockTimeMs * 0.9)
      expect(ms).toBeLessThanOrEqual(chain.blockTimeMs * 1.1 + 10)
    }
  })

  it('does not poll the head while calls report it', async () => {
    const fixture = new WatchFixture([[{}]])
    await fixture.clock.advance(100)
    const requests = fixture.asked(0)
    for (let second = 0; second < 60; second++) {
      await fixture.clock.advance(1_000)
      const [upstream] = fixture.pool.upstreams
      void fixture.watch.onRequest(fixture.clock.nowMs())
      fixture.pool.observeHead(upstream!, 100 + Math.floor(second / 12), 0, upstream!.urls[0]!)
    }
    expect(fixture.asked(0)).toBe(requests)
  })

  it('verifies again at each health check', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]], { healthCheckIntervalMs: 60_000 })
    await fixture.clock.advance(100)
    state.chainId = '0x5'
    await fixture.clock.advance(70_000)
    expect(fixture.states).toEqual(['rejected'])
  })

  it('detects a dead upstream without traffic by its liveness probe', async () => {
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]], { livenessProbeIntervalMs: 5_000 })
    await fixture.clock.advance(100)
    state.fault = refused
    await fixture.clock.advance(30_000)
    expect(fixture.states).toEqual(['disabled'])
  })

  it('blames no node while the router itself has no file left for probes', async () => {
    const node: NodeState = {}
    const codes: string[] = []
    const exhausted = (code: string) => void codes.push(code)
    const silent = { stateChanged() {}, cooldownBegan() {}, verificationFailed() {} }
    const fixture = new WatchFixture([[node]], { observer: { ...silent, exhausted } })
    await fixture.clock.advance(1_000)
    node.fault = { fault: 'exhausted' }
    await fixture.clock.advance(800_000)
    expect(fixture.states).toEqual(['eligible'])
    expect(fixture.pool.upstreams[0]!.trouble).toBe(null)
    expect(codes.length).toBeGreaterThan(1)
  })

  it('starts a cooldown without blame when a probe gets 429', async () => {
    const limited = { status: 429, headers: ['Retry-After', '120'], body: 'slow down' }
    const options = { livenessProbeIntervalMs: 5_000, healthCheckIntervalMs: 20_000 }
    const state: NodeState = {}
    const fixture = new WatchFixture([[state]], options)
    await fixture.clock.advance(100)
    state.fault = limited
    await fixture.clock.advance(6_000)
    const before = fixture.asked(0)
    await fixture.clock.advance(100_000)
    expect(fixture.asked(0)).toBe(before)
    expect(fixture.states).toEqual(['cooldown'])
  })

  it('does not recurse while no probe is possible', async () => {
    // The node passes verification, but is rate limited before it reports its first block.
    const fixture = new WatchFixture([[{ lacks: ['eth_blockNumber'] }]])
    await fixture.clock.advance(100)
    const before = fixture.asked(0)
    fixture.pool.upstreams[0]!.urls[0]!.cooldown.begin(60_000)
    await fixture.clock.advance(30_000)
    expect(fixture.asked(0)).toBe(before)
    expect(fixture.states).toEqual(['cooldown'])
  })

  it('does not recurse on a chain without a latest-block query', async () => {
    const fixture = new WatchFixture([[{}]], { iface: { ...iface, latestBlock: null } })
    await fixture.clock.advance(10_000)
    expect(fixture.asked(0)).toBe(1)
  })

  it('does not probe a URL in cooldown', async () => {
    const fixture = new WatchFixture([[{}]], { livenessProbeIntervalMs: 5_000 })
    await fixture.clock.advance(100)
    const requests = fixture.asked(0)
    fixture.pool.upstreams[0]!.urls[0]!.cooldown.begin(600_000)
    await fixture.clock.advance(599_000)
    expect(fixture.asked(0)).toBe(requests)
  })

  it.each([
    ['a second without a Retry-After, doubling', [], 7_000],
    ['its Retry-After', ['Retry-After', '120'], 121_000],
  ])('retries a limited first verification after %s', async (_, headers, withinMs) => {
    const state: NodeState = { fault: { status: 429, headers, body: 'slow down' } }
    const fixture = new WatchFixture([[state]])
    await fixture.clock.advance(withinMs / 2)
    const [shown] = fixture.pool.snapshot().upstreams
    expect(shown).toMatchObject({
      state: 'unverified',
      why: expect.stringMatching(/^rate limited/),
    })
    expect(Date.parse(shown!.until!)).toBeGreaterThan(fixture.clock.wallMs())
    delete state.fault
    await fixture.clock.advance(withinMs / 2)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('a refused call has a limited first verification tried before its time', async () => {
    const state: NodeState = {
      fault: { status: 429, headers: ['Retry-After', '60'], body: 'slow down' },
    }
    const fixture = new WatchFixture([[state]], { healthCheckIntervalMs: 500 })
    await fixture.clock.advance(7_000)
    const asked = fixture.asked(0)
    for (let each = 0; each < 10; each++) fixture.pool.tryToVerify(anyUpstream)
    await fixture.clock.advance(3_000)
    expect(fixture.asked(0)).toBe(asked + 1)
    delete state.fault
    await fixture.clock.advance(6_000)
    fixture.pool.tryToVerify(anyUpstream)
    await fixture.clock.advance(100)
    expect(fixture.states).toEqual(['eligible'])
  })

  it('stops a verification when a cooldown begins', async () => {
    const fixture = new WatchFixture([[{ url: { addons: ['trace', 'debug'] } }]])
    await fixture.clock.advance(5)
    const [url] = fixture.pool.upstreams[0]!.urls
    expect(fixture.asked(0)).toBe(1)
    url!.cooldown.begin(20_000)
    await fixture.clock.advance(15_000)
    expect(fixture.asked(0)).toBe(1)
    expect(url!.verified).not.toBe(false)
  })

  it('leaves no timer behind when it is stopped', async () => {
    const fixture = new WatchFixture([[{}], [{ fault: { hang: true } }]])
    await fixture.clock.advance(2_000)
    fixture.watch.stop()
    await fixture.clock.advance(0)
    expect(fixture.clock.pending).toBe(0)
  })
})

describe('a head that jumps by more than the chain can have grown', () => {
  it.each([
    ['forwards', 1_000_000],
    ['backwards', 3],
  ])('%s disables a URL of another chain at once', async (_, block) => {
    const fixture = new WatchFixture([[{}], [{}]])
    await fixture.clock.advance(1_000)
    Object.assign(fixture.nodes[0]!, { chainId: '0x89', block })
    await fixture.clock.advance(1.2 * chain.blockTimeMs)
    expect(fixture.states).toEqual(['rejected', 'eligible'])
    expect(fixture.pool.tip).toBe(100)
    expect(fixture.events).toContainEqual(expect.stringContaining('expected 0x1'))
    // The URL recovers when it is back on its chain.
    Object.assign(fixture.nodes[0]!, { chainId: '0x1', block: 101 })
    await fixture.clock.advance(60_000)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
  })

  it('is not assumed for a reordered answer', async () => {
    const fixture = new WatchFixture([[{}], [{}]])
    await fixture.clock.advance(1_000)
    const [upstream] = fixture.pool.upstreams
    fixture.pool.observeHead(upstream!, 3, 0, upstream!.urls[0]!)
    expect(fixture.states).toEqual(['eligible', 'eligible'])
    expect(fixture.pool.upstreams[0]!.latest?.block).toBe(100)
  })

  it('keeps a URL disabled while it cannot be verified', async () => {
    const fixture = new WatchFixture([[{}], [{}]])
    await fixture.clock.advance(1_000)
    Object.assign(fixture.nodes[0]!, { block: 1_000_000, faults: { eth_chainId: refused } })
    await fixture.clock.advance(1.2 * chain.blockTimeMs)
    expect(fixture.states[0]).toBe('unverified')
    const [url] = fixture.pool.upstreams[0]!.urls
    expect(url!.isUnreached).toBe(true)
    Object.assign(fixture.nodes[0]!, { faults: {} })
    await fixture.clock.advance(60_000)
    expect(fixture.states[0]).toBe('eligible')
    fixture.pool.observeHead(fixture.pool.upstreams[0]!, 3, fixture.clock.nowMs(), url!)
    expect([fixture.states[0], url!.isUnreached]).toEqual(['unverified', false])
  })

  it('keeps a URL of the right chain in service and allows larger jumps', async () => {
    const fixture = new WatchFixture([[{ block: 0 }]])
    const checks = () =>
      fixture.transports[0]!.requests.filter((request) => request.includes('eth_chainId'))
    for (let block = 0; block < 3_000; block += 48) {
      fixture.nodes[0]!.block = block
      await fixture.clock.advance(chain.blockTimeMs)
      expect(fixture.states).toEqual(['eligible'])
    }
    expect(checks().length - 1).toBeGreaterThan(0)
    expect(checks().length).toBeLessThan(8)
  })
})
