// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { withFilters } from '../filters/filters.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import {
  type TestCall,
  ethereum,
  nodeError,
  RelayFixture,
  result,
  scripted,
  type Upstreams,
} from '../relay/testing/relay-fixture.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { Sessions, type StickyOutcome } from './sessions.ts'
import { withStickiness } from './stickiness.ts'

const { chain, iface } = await ethereum()

class StickyFixture extends RelayFixture {
  readonly outcomes: StickyOutcome[] = []
  readonly keys: FakeKeys

  constructor(upstreams: Upstreams, config: ConstructorParameters<typeof RelayFixture>[3] = {}) {
    super(chain, iface, scripted(upstreams), config)
    const { clock, pool } = this
    this.keys = new FakeKeys(clock)
    const sessions = new Sessions({
      ...{ clock, keys: this.keys, lifetimeMs: 1_800_000 },
      count: (outcome) => this.outcomes.push(outcome),
    })
    this.relay = withStickiness(withFilters(this.relay, { chain, pool }), {
      ...{ chainId: 'ETH1', apiInterface: 'jsonrpc', pool, clock, sessions },
      config: { now: { strategy: 'round-robin' } },
    })
  }

  /** Sends a call in a session. Returns the upstream that answered, or why none did. */
  async in(session: string | null, { directives, ...request }: TestCall = {}): Promise<string> {
    const result = await this.ask({
      ...request,
      directives: { ...directives, stickiness: session },
    })
    return result.upstream ?? result.outcome
  }
}

const ok = () => ({ script: () => result('0x1') })
const three = (): Upstreams => ({ a: ok(), b: ok(), c: ok() })
const times = async <T>(count: number, ask: () => Promise<T>) => {
  const result: T[] = []
  for (let each = 0; each < count; each++) result.push(await ask())
  return result
}

describe('the calls of a session', () => {
  test('go to one node, and those of others and without an id to any', async () => {
    const relay = new StickyFixture(three())
    expect(await times(5, () => relay.in('s'))).toEqual(['a', 'a', 'a', 'a', 'a'])
    expect(new Set(await times(6, () => relay.in(null)))).toEqual(new Set(['a', 'b', 'c']))
    const sessions = ['s1', 's2', 's3', 's4', 's5', 's6']
    const nodes = await Promise.all(sessions.map((each) => relay.in(each)))
    expect(new Set(nodes).size).toBe(3)
    expect(await relay.in('s')).toBe('a')
  })

  test('with another extension, or another add-on, have a different node', async () => {
    const relay = new StickyFixture({
      plain: ok(),
      archive: { script: () => result('0x1'), urls: [{ addons: ['archive'] }] },
      debug: { script: () => result({}), urls: [{ addons: ['debug'] }] },
    })
    const archive = { directives: { extension: 'archive' } }
    const debug = { method: 'debug_traceTransaction', params: [`0x${'1'.repeat(64)}`, {}] }
    for (let each = 0; each < 3; each++)
      expect([
        await relay.in('s'),
        await relay.in('s', archive),
        await relay.in('s', debug),
      ]).toEqual(['plain', 'archive', 'debug'])
    expect(relay.outcomes.filter((each) => each === 'claimed')).toHaveLength(3)
  })

  test('cause no retries, hedges or broadcasts at other nodes', async () => {
    const relay = new StickyFixture({
      a: { script: () => result('0x1', { afterMs: 900 }) },
      b: ok(),
      c: ok(),
    })
    expect(await relay.in('s')).toBe('a')
    const write = { method: 'eth_sendRawTransaction', params: ['0x01'] }
    expect(await relay.in('s', write)).toBe('a')
    expect(relay.sent).toEqual({ a: 2, b: 0, c: 0 })
  })

  test('with rpc-select-provider go there, with failover, and choose nothing', async () => {
    const relay = new StickyFixture({ ...three(), b: { fault: 'refused' } })
    expect(await relay.in('s', { directives: { selectProvider: 'c' } })).toBe('c')
    expect(await relay.in('s', { directives: { selectProvider: 'b' } })).not.toBe('b')
    expect([relay.outcomes, relay.keys.texts]).toEqual([[], {}])
  })

  test('about a filter go to the node of the filter', async () => {
    const relay = new StickyFixture(three())
    const made = await relay.ask({ method: 'eth_newBlockFilter', params: [] })
    const { result: id } = JSON.parse(made.outcome) as { result: string }
    expect(made.upstream).toBe('a')
    expect(await relay.in('s')).toBe('b')
    expect(await relay.in('s', { method: 'eth_getFilterChanges', params: [id] })).toBe('a')
  })

  test("stay at their node after the node's own error", async () => {
    const revert = nodeError(3, 'execution reverted')
    const relay = new StickyFixture({ a: revert, b: ok() })
    expect(
      await times(3, () => relay.in('s', { method: 'eth_call', params: [{}, 'latest'] })),
    ).toEqual(['a', 'a', 'a'])
    expect(relay.outcomes).toEqual(['claimed', 'local_hit', 'local_hit'])
  })
})

/** Failures of node `a`, and what the client of its session gets. */
const troubles: Readonly<Record<string, (relay: StickyFixture) => void>> = {
  'is down': (relay) => relay.transport('a').play(() => ({ fault: 'refused' })),
  'breaks connections': (relay) => relay.transport('a').play(() => ({ fault: 'reset' })),
  hangs: (relay) => relay.transport('a').play(() => result('0x1', { afterMs: 60_000 })),
  'returns malformed answers': (relay) => relay.transport('a').play(() => ({ body: 'rubbish' })),
  'is in cooldown': (relay) => {
    const [url] = relay.pool.upstreams[0]?.urls ?? []
    url?.cooldown.begin(60_000)
  },
  'could not be reached for its verification': (relay) => {
    Object.assign(relay.pool.upstreams[0]!.urls[0]!, { verified: null, isUnreached: true })
  },
  lags: (relay) => {
    const [a, ...others] = relay.pool.upstreams
    for (const each of others)
      relay.pool.observeHead(each, 1_000, relay.clock.nowMs(), each.urls[0]!)
    relay.pool.observeHead(a!, 900, relay.clock.nowMs(), a!.urls[0]!)
  },
}

describe('when the node of a session', () => {
  test.each(Object.entries(troubles))(
    '%s, the call fails, and the next one has another node',
    async (_, befall) => {
      const relay = new StickyFixture(three(), { processingTimeoutMs: 5_000 })
      expect(await relay.in('s')).toBe('a')
      befall(relay)
      const before = { ...relay.sent, a: 0 }
      expect(await relay.in('s')).toBe('session-node')
      expect({ ...relay.sent, a: 0 }).toEqual(before)
      expect(relay.outcomes.at(-1)).toBe('invalidated')
      const next = await relay.in('s')
      expect(['b', 'c']).toContain(next)
      expect(await relay.in('s')).toBe(next)
      // Calls without a session never fail.
      expect(await times(3, () => relay.in(null))).not.toContain('no-upstream')
      expect(relay.events).not.toContain('breaker open')
    },
  )

  test('is removed from the config, the call fails, and the next one has another node', async () => {
    const relay = new StickyFixture(three())
    await relay.in('s')
    const [key = ''] = Object.keys(relay.keys.texts)
    const other = new StickyFixture(three())
    await other.keys.set(key, Buffer.from('gone'), 10_000)
    expect(await other.in('s')).toBe('session-node')
    expect(await other.in('s')).toBe('a')
  })

  test.each([
    ['a page', { status: 500, body: 'oops' }],
    ['an internal error', nodeError(-32603, 'internal error')],
    ['a rate limit', nodeError(-32005, 'rate limit exceeded', { status: 429 })],
  ] as readonly (readonly [string, ScriptedAnswer])[])(
    'answers %s, the client gets it, and the next call has another node',
    async (_, answer) => {
      const relay = new StickyFixture(three())
      await relay.in('s')
      relay.transport('a').play(() => answer)
      const result = await relay.ask({ directives: { stickiness: 's' } })
      expect([result.upstream, result.outcome]).toEqual(['a', answer.body])
      expect(await relay.in('s')).not.toBe('a')
    },
  )

  test('lags, blocks that it has are still read there', async () => {
    const relay = new StickyFixture(three())
    expect(await relay.in('s')).toBe('a')
    troubles['lags']?.(relay)
    const params = ['0x00000000000000000000000000000000000000aa', '0x320']
    expect(await relay.in('s', { params })).toBe('a')
    expect(await relay.in('s', { params: [params[0], 'latest'] })).toBe('session-node')
  })

  test.each<[string, TestCall, string]>([
    ['excluded by', { directives: { blockProviders: ['a'] } }, 'session-node'],
    ['without time because of', { directives: { relayTimeoutMs: 1 } }, 'timeout'],
    [
      'given no time by the deadline of',
      {
        prepare: (journal) => {
          journal.clientDeadlineMs = journal.startedMs + 1
        },
      },
      'timeout',
    ],
  ])(
    'is %s a caller, that call fails, and the session stays at its node',
    async (_, request, reason) => {
      const slow = { script: () => result('0x1', { afterMs: 20 }) }
      const relay = new StickyFixture({ ...three(), a: slow })
      expect(await relay.in('s')).toBe('a')
      expect(await times(3, () => relay.in('s', request))).toEqual([reason, reason, reason])
      expect(await relay.in('s')).toBe('a')
      expect(relay.outcomes).not.toContain('invalidated')
      expect(relay.sent).toMatchObject({ b: 0, c: 0 })
    },
  )

  test('hangs, as its probes show, callers with short timeouts get another as well', async () => {
    const relay = new StickyFixture(three())
    const request = { directives: { relayTimeoutMs: 200 } }
    expect(await relay.in('s', request)).toBe('a')
    relay.transport('a').play(() => result('0x1', { afterMs: 60_000 }))
    expect(await relay.in('s', request)).toBe('timeout')
    relay.pool.upstreams[0]!.availability.failed(5, 'probe: timeout')
    expect(await relay.in('s', request)).toBe('session-node')
    expect(await relay.in('s', request)).toBe('b')
  })

  test('is unknown because the store is down, the call fails; calls without an id do not', async () => {
    const relay = new StickyFixture(three())
    await relay.in('s')
    relay.keys.connect(false)
    expect([await relay.in('s'), await relay.in('t')]).toEqual(['session-store', 'session-store'])
    expect(await relay.in(null)).toMatch(/^[abc]$/)
    relay.keys.connect(true)
    expect(await relay.in('s')).toBe('a')
  })

  test('cannot be chosen since none is up, the call fails as usual', async () => {
    const relay = new StickyFixture({ a: { script: () => result('0x1'), verified: false } })
    expect(await relay.in('s')).toBe('no-upstream')
    expect(relay.outcomes).toEqual(['no_candidate'])
  })
})

const unverified: Readonly<Record<string, (relay: StickyFixture) => void>> = {
  'not verified here yet': (relay) => {
    relay.pool.upstreams[0]!.urls[0]!.verified = null
  },
  'verified again after a jump of its head': (relay) => {
    const [a] = relay.pool.upstreams
    for (const block of [1_000, 1_000_000])
      relay.pool.observeHead(a!, block, relay.clock.nowMs(), a!.urls[0]!)
  },
}

describe.each(Object.entries(unverified))('while the node of a session is %s', (_, befall) => {
  const write = { method: 'eth_sendRawTransaction', params: ['0x01'] }

  test.each<[string, TestCall]>([
    ['a read', {}],
    ['a write', write],
  ])('%s waits for it', async (__, request) => {
    const relay = new StickyFixture(three())
    expect(await relay.in('s')).toBe('a')
    befall(relay)
    relay.clock.after(800, () => (relay.pool.upstreams[0]!.urls[0]!.verified = true))
    expect(await relay.in('s', request)).toBe('a')
    expect(relay.sent).toEqual({ a: 2, b: 0, c: 0 })
  })

  test.each<[string, TestCall]>([
    ['a read', {}],
    ['a write', write],
  ])('%s fails after a second, and the session stays at its node', async (__, request) => {
    const relay = new StickyFixture(three())
    expect(await relay.in('s')).toBe('a')
    befall(relay)
    const result = await relay.ask({ ...request, directives: { stickiness: 's' } })
    expect([result.outcome, result.tookMs]).toEqual(['session-node', 1_000])
    expect(result.call.journal.session).toMatchObject({ node: 'a', isDropped: false })
    expect(relay.sent).toEqual({ a: 1, b: 0, c: 0 })
    // No other replica has dropped the choice.
    expect([relay.outcomes, Object.values(relay.keys.texts)]).toEqual([
      ['claimed', 'local_hit'],
      ['a'],
    ])
    relay.pool.upstreams[0]!.urls[0]!.verified = true
    expect(await relay.in('s')).toBe('a')
  })
})

test('a client that leaves drops no choice', async () => {
  const relay = new StickyFixture({ a: { script: () => result('0x1', { afterMs: 500 }) }, b: ok() })
  const gone = new AbortController()
  const pending = relay.begin({ directives: { stickiness: 's' }, signal: gone.signal })
  await relay.clock.advance(100)
  gone.abort()
  expect((await pending).outcome).toBe('CallAborted')
  expect(await relay.in('s')).toBe('a')
  expect(relay.outcomes).toEqual(['claimed', 'local_hit'])
})
