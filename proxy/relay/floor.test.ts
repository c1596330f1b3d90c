// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import type { RelayConfig } from '../config/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import type { Script, ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import {
  type TestCall,
  ethereum,
  nodeError,
  RelayFixture,
  result,
  solana,
} from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const slots = await solana()

/** Upstreams with these heads; null means unknown. */
function fixture(
  heads: Readonly<Record<string, number | null>>,
  answers: Readonly<Record<string, ScriptedAnswer | Script>> = {},
  of = { chain, iface },
  config: Partial<RelayConfig> = {},
) {
  const scriptOf = (name: string): Script => {
    const answer = answers[name] ?? result(name)
    return typeof answer === 'function' ? answer : () => answer
  }
  const nodes = Object.keys(heads).map((name) => [name, { script: scriptOf(name) }] as const)
  const relay = new RelayFixture(of.chain, of.iface, Object.fromEntries(nodes), config)
  const head = (name: string, block: number) => {
    const upstream = relay.pool.upstreams.find((each) => each.name === name)!
    relay.pool.observeHead(upstream, block, relay.clock.nowMs(), upstream.urls[0]!)
  }
  for (const [name, block] of Object.entries(heads)) if (block !== null) head(name, block)
  return { relay, head }
}

test.each([
  [99, 'a'],
  [100, 'a'],
  [101, 'b'],
])(
  'an upstream that has the block answers a call with floor %i: %s',
  async (minBlock, expected) => {
    const { relay } = fixture({ a: 100, b: 101, c: null })
    const { upstream, tookMs } = await relay.ask({ directives: { minBlock } })
    expect([upstream, tookMs]).toEqual([expected, 10])
  },
)

it.each([{ selectProvider: 'a' }, { blockProviders: ['c'] }])(
  'takes precedence over other directives: %j',
  async (more) => {
    const { relay } = fixture({ a: 100, b: 101, c: 101 })
    const { upstream } = await relay.ask({ directives: { minBlock: 101, ...more } })
    expect(upstream).toBe('b')
  },
)

it.each([
  ['the latest', ['0xa', 'latest'], '0x65'],
  ['the latest by default', ['0xa'], '0x65'],
  ['an older block', ['0xa', '0x5'], '0x5'],
])('pins the block of the header when the call is about %s', async (_, params, block) => {
  const { relay } = fixture({ a: 100, b: 101 })
  for (const minBlock of [101, 0]) {
    const { call } = await relay.ask({
      ...{ method: 'eth_getBalance', params },
      directives: { minBlock, selectProvider: 'b' },
    })
    expect(call.journal.attempts).toMatchObject([{ upstream: 'b', result: 'answer' }])
    const sent = relay.transports.get('b')![0]!.requests.at(-1)!
    expect(JSON.parse(sent)).toMatchObject({ params: ['0xa', block] })
  }
})

it('uses any upstream without a floor, even with an unknown head', async () => {
  const { relay } = fixture({ a: null })
  expect(await relay.ask({ directives: { minBlock: 0 } })).toMatchObject({ upstream: 'a' })
})

it('waits up to two block times for an upstream to reach it, and polls heads meanwhile', async () => {
  const { relay, head } = fixture({ a: 100, b: 100 })
  let requests = 0
  relay.pool.pollHeads = () => (requests += 1)
  const reply = relay.ask({ directives: { minBlock: 101 } })
  relay.clock.after(chain.blockTimeMs, () => {
    head('b', 101)
  })
  expect((await reply).upstream).toBe('b')
  expect(requests).toBeGreaterThan(1)
})

it('returns a clear error if no upstream reaches it in time', async () => {
  const { relay } = fixture({ a: 100, b: null })
  const reply = await relay.ask({ directives: { minBlock: 101 } })
  expect([reply.outcome, relay.sent]).toEqual(['min-block', { a: 0, b: 0 }])
  expect(reply.tookMs).toBeGreaterThanOrEqual(2 * chain.blockTimeMs)
  expect(reply.tookMs).toBeLessThan(2 * chain.blockTimeMs + 100)
})

it('does not wait for a block far ahead', async () => {
  const { relay } = fixture({ a: 100, b: 100 })
  const { outcome, tookMs } = await relay.ask({ directives: { minBlock: 999_999_999_999 } })
  expect([outcome, tookMs]).toEqual(['min-block', 0])
})

it.each<[string, ScriptedAnswer]>([
  ['is down', { fault: 'refused' }],
  ['fails', { status: 502, body: 'bad gateway' }],
  ['lacks the block after all', nodeError(-32000, 'header not found')],
])(
  'waits for another upstream while the only one that reported the block %s',
  async (_, answer) => {
    const { relay, head } = fixture({ a: 101, b: 100 }, { a: answer })
    const reply = relay.ask({ directives: { minBlock: 101 } })
    relay.clock.after(300, () => {
      head('b', 101)
    })
    expect(await reply).toMatchObject({ upstream: 'b', incoming: { status: 200 } })
  },
)

it.each<[string, TestCall, ScriptedAnswer]>([
  ['does not know the method', { method: 'eth_nothing' }, nodeError(-32601, 'no method')],
  ['returns an unknown error', {}, nodeError(-32000, 'the moon is full')],
  ['returns too long an answer', {}, { fault: 'too-large' }],
  ['may have executed a local call', { method: 'eth_accounts', params: [] }, { fault: 'reset' }],
  [
    'has pruned an older block',
    { method: 'eth_getBalance', params: ['0xa', '0x5'] },
    nodeError(-32000, 'missing trie node 1 (path )'),
  ],
])('does not wait if the only upstream with the block %s', async (_, request, answer) => {
  const { relay } = fixture({ a: 101, b: 100 }, { a: answer })
  const reply = await relay.ask({ ...request, directives: { minBlock: 101 } })
  expect([relay.sent, reply.tookMs < 500]).toEqual([{ a: 1, b: 0 }, true])
})

it.each([
  ['its time is over', { processingTimeoutMs: 1_200 }, 100, 1_200, 'min-block'],
  ['retries are disabled', { retryLimit: 0 }, 101, 10, 'header not found'],
])('waits no longer when %s', async (_, config, block, tookMs, outcome) => {
  const of = { chain, iface }
  const { relay } = fixture({ a: block }, { a: nodeError(-32000, 'header not found') }, of, config)
  const reply = await relay.ask({ directives: { minBlock: 101 } })
  expect(reply).toMatchObject({ tookMs, outcome: expect.stringContaining(outcome) as string })
})

it('does not block the trial call of a disabled upstream', async () => {
  const { relay, head } = fixture({ a: 100 }, { a: { fault: 'refused' } })
  for (let each = 0; each < 9; each++) await relay.ask()
  expect(relay.events).toContain('breaker open')
  head('a', 100)
  relay.transport('a').play(() => result('a'))
  const waiting = relay.ask({ directives: { minBlock: 101 } })
  expect((await relay.ask()).outcome).toContain('"a"')
  head('a', 101)
  expect((await waiting).outcome).toContain('"a"')
})

it.each<[string, [number | null, number | null], number]>([
  ['the URL that reported the block', [99, 101], 1],
  ['the first URL while its head is unknown', [null, 101], 0],
])('selects, among URLs at different heads, %s', async (_, heads, expected) => {
  const urls = [{}, {}]
  const otherScripts = [() => result('second')]
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => result('first'), urls, otherScripts },
  })
  const [upstream] = relay.pool.upstreams
  for (const [at, block] of heads.entries())
    if (block !== null) relay.pool.observeHead(upstream!, block, at, upstream!.urls[at]!)
  const { outcome } = await relay.ask({ directives: { minBlock: 101 } })
  expect(outcome).toBe(result(['first', 'second'][expected]).body)
})

it('does not fail over to a URL that has since reported an older block', async () => {
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => ({ fault: 'reset', afterMs: 100 }), urls: [{}, {}] },
    b: { script: () => result('b') },
  })
  const [a, b] = relay.pool.upstreams
  for (const each of [a!, b!])
    for (const url of each.urls) relay.pool.observeHead(each, 101, 0, url)
  relay.clock.after(50, () => relay.pool.observeHead(a!, 100, 50, a!.urls[1]!))
  const { outcome, call } = await relay.ask({ directives: { minBlock: 101 } })
  expect([outcome, call.journal.attempts.map(({ kind }) => kind)]).toEqual([
    result('b').body,
    ['first', 'retry'],
  ])
})

it('retries an upstream that lacked the block that it reported', async () => {
  const answers = [nodeError(-32000, 'header not found'), nodeError(-32000, 'header not found')]
  const { relay } = fixture({ a: 101 }, { a: () => answers.shift() ?? result('a') })
  expect((await relay.ask({ directives: { minBlock: 101 } })).outcome).toContain('"a"')
})

it('returns the error of a node that never has the block that it reported', async () => {
  const { relay } = fixture({ a: 101 }, { a: nodeError(-32000, 'header not found') })
  const reply = await relay.ask({ directives: { minBlock: 101 } })
  expect(reply.outcome).toContain('header not found')
  expect(reply.tookMs).toBeLessThan(2 * chain.blockTimeMs + 1_000)
})

it('does not restrict writes', async () => {
  const { relay } = fixture({ a: 100, b: 101 })
  await relay.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x01'],
    directives: { minBlock: 101 },
  })
  expect(relay.sent).toEqual({ a: 1, b: 1 })
})

it('ends the wait when the client disconnects', async () => {
  const { relay } = fixture({ a: 100 })
  const signal = AbortSignal.abort()
  expect((await relay.ask({ signal, directives: { minBlock: 101 } })).outcome).toBe('CallAborted')
})

describe('minContextSlot', () => {
  const notReached = nodeError(-32016, 'Minimum context slot has not been reached')
  const confirmed = { commitment: 'confirmed' }

  /** A node at this slot. A gateway in front of it may ignore the floor. */
  const node =
    (slot: () => number, honours = true): Script =>
    ({ body }) => {
      const { params } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
        params: { minContextSlot?: number; commitment?: string }[]
      }
      const { minContextSlot = 0, commitment = 'finalized' } = params.at(-1)!
      const own = slot() - { processed: -1, confirmed: 0, finalized: 32 }[commitment]!
      if (honours && own < minContextSlot) return notReached
      return result({ context: { slot: own }, value: own })
    }
  const fleet = (heads: Record<string, number>, answers: Record<string, Script>) =>
    fixture(heads, answers, slots)
  const balance = (settings: object) => ({ method: 'getBalance', params: ['key', settings] })

  test.each<[string, unknown[]]>([
    ['getSlot', [{ ...confirmed, minContextSlot: 101 }]],
    ['getBlockHeight', [{ minContextSlot: 101 }]],
    ['getBalance', ['key', { ...confirmed, minContextSlot: 101 }]],
    ['getTokenAccountsByOwner', ['key', {}, { minContextSlot: 101 }]],
    ['getBlocks', [5, 9, { minContextSlot: 101 }]],
  ])('%s %j goes to an upstream that has the slot', async (method, params) => {
    for (const _ of [1, 2, 3]) {
      const answer = result({ context: { slot: 101 }, absoluteSlot: 101 })
      const { relay } = fleet({ a: 100, b: 101, c: 99 }, { b: () => answer })
      expect(await relay.ask({ method, params })).toMatchObject({ upstream: 'b', tookMs: 10 })
    }
  })

  test.each([
    [101, 100, 'b'],
    [100, 101, 'b'],
    [100, null, 'a'],
  ])(
    '%i with rpc-min-block %s: the higher one applies',
    async (minContextSlot, minBlock, expected) => {
      const { relay } = fleet({ a: 100, b: 101 }, { a: node(() => 100), b: node(() => 101) })
      const reply = await relay.ask({
        ...balance({ ...confirmed, minContextSlot }),
        directives: { minBlock },
      })
      expect(reply.upstream).toBe(expected)
    },
  )

  it.each([
    ['confirmed', 101, 0],
    ['finalized', 101, 32],
    ['processed', 102, 0],
  ])('waits for a %s slot that no node has reached', async (commitment, minContextSlot, behind) => {
    let slot = 100
    const { relay, head } = fleet({ a: 100 }, { a: node(() => slot) })
    const reply = relay.ask(balance({ commitment, minContextSlot }))
    relay.clock.after(300, () => {
      slot = 101 + behind
      head('a', slot)
    })
    expect((await reply).outcome).toContain(`"value":${minContextSlot}`)
  })

  it('does not wait for a processed slot that is above all confirmed ones', async () => {
    const { relay } = fleet({ a: 100 }, { a: node(() => 100) })
    const reply = await relay.ask(balance({ commitment: 'processed', minContextSlot: 101 }))
    expect(reply).toMatchObject({ upstream: 'a', tookMs: 10 })
  })

  it.each([
    ['the node error', true, 'Minimum context slot has not been reached'],
    ['a router error instead of an older answer', false, 'min-block'],
  ])('yields, if no node reaches it, %s', async (_, honours, expected) => {
    const { relay } = fleet({ a: 110 }, { a: node(() => 110, honours) })
    const reply = await relay.ask(balance({ minContextSlot: 100 }))
    expect(reply.outcome).toContain(expected)
    expect(reply.tookMs).toBeGreaterThanOrEqual(1_000)
    expect(reply.tookMs).toBeLessThan(1_200)
    expect(relay.pool.snapshot().upstreams).toMatchObject([{ state: 'eligible', fault: null }])
  })

  it.each(['confirmed', 'finalized', 'processed'])(
    'holds for 300 %s answers of a mixed fleet',
    async (commitment) => {
      const random = seededRandom(7)
      const lags = [0, 1, 3, 2]
      const slot = (at: number) => 1_000 + Math.floor(relay.clock.nowMs() / 400) - lags[at]!
      const { relay, head } = fleet(
        { a: 1_000, b: 999, c: 997, d: 998 },
        Object.fromEntries(
          ['a', 'b', 'c', 'd'].map((name, at) => [name, node(() => slot(at), at % 2 === 0)]),
        ),
      )
      let floor = 0
      let older = 0
      for (let each = 0; each < 300; each++) {
        // Known heads are up to a second old.
        if (each % 5 === 0)
          for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) head(name, slot(at))
        const reply = await relay.ask(balance({ commitment, minContextSlot: floor }))
        const { result: said } = JSON.parse(reply.outcome) as {
          result: { context: { slot: number } }
        }
        if (said.context.slot < floor) older += 1
        floor = Math.max(floor, said.context.slot)
        await relay.clock.advance(Math.floor(random.next() * 200))
      }
      expect(older).toBe(0)
    },
  )
})
