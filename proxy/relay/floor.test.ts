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

/** Upstreams with these heads; one with null has none that is known. */
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
  'a call with block %i as its lowest is answered by an upstream that has it: %s',
  async (minBlock, expected) => {
    const { relay } = fixture({ a: 100, b: 101, c: null })
    const { upstream, tookMs } = await relay.ask({ directives: { minBlock } })
    expect([upstream, tookMs]).toEqual([expected, 10])
  },
)

it.each([{ selectProvider: 'a' }, { blockProviders: ['c'] }])(
  'goes before what else the caller asks: %j',
  async (more) => {
    const { relay } = fixture({ a: 100, b: 101, c: 101 })
    const { upstream } = await relay.ask({ directives: { minBlock: 101, ...more } })
    expect(upstream).toBe('b')
  },
)

it.each([
  ['the latest', ['0xa', 'latest'], '0x65'],
  ['the latest, which it does not name', ['0xa'], '0x65'],
  ['another', ['0xa', '0x5'], '0x5'],
])('asks about the block of the header where the call is about %s', async (_, params, block) => {
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

it('asks any upstream where every block will do, be its head known or not', async () => {
  const { relay } = fixture({ a: null })
  expect(await relay.ask({ directives: { minBlock: 0 } })).toMatchObject({ upstream: 'a' })
})

it('waits for an upstream that gets it within two block times, and asks for heads meanwhile', async () => {
  const { relay, head } = fixture({ a: 100, b: 100 })
  let requests = 0
  relay.pool.pollHeads = () => (requests += 1)
  const seen = relay.ask({ directives: { minBlock: 101 } })
  relay.clock.after(chain.blockTimeMs, () => {
    head('b', 101)
  })
  expect((await seen).upstream).toBe('b')
  expect(requests).toBeGreaterThan(1)
})

it('is a clear error when none has it by then', async () => {
  const { relay } = fixture({ a: 100, b: null })
  const seen = await relay.ask({ directives: { minBlock: 101 } })
  expect([seen.outcome, relay.sent]).toEqual(['min-block', { a: 0, b: 0 }])
  expect(seen.tookMs).toBeGreaterThanOrEqual(2 * chain.blockTimeMs)
  expect(seen.tookMs).toBeLessThan(2 * chain.blockTimeMs + 100)
})

it('does not wait for a block that the chain is far from', async () => {
  const { relay } = fixture({ a: 100, b: 100 })
  const { outcome, tookMs } = await relay.ask({ directives: { minBlock: 999_999_999_999 } })
  expect([outcome, tookMs]).toEqual(['min-block', 0])
})

it.each<[string, ScriptedAnswer]>([
  ['is down', { fault: 'refused' }],
  ['fails', { status: 502, body: 'bad gateway' }],
  ['lacks it after all', nodeError(-32000, 'header not found')],
])(
  'waits for another upstream while the only one that reported the block %s',
  async (_, answer) => {
    const { relay, head } = fixture({ a: 101, b: 100 }, { a: answer })
    const seen = relay.ask({ directives: { minBlock: 101 } })
    relay.clock.after(300, () => {
      head('b', 101)
    })
    expect(await seen).toMatchObject({ upstream: 'b', incoming: { status: 200 } })
  },
)

it.each<[string, TestCall, ScriptedAnswer]>([
  ['does not know the method', { method: 'eth_nothing' }, nodeError(-32601, 'no method')],
  ['returns an unknown error', {}, nodeError(-32000, 'the moon is full')],
  ['returns more than the router takes', {}, { fault: 'too-large' }],
  ['may have executed a local call', { method: 'eth_accounts', params: [] }, { fault: 'reset' }],
  [
    'has pruned an older block',
    { method: 'eth_getBalance', params: ['0xa', '0x5'] },
    nodeError(-32000, 'missing trie node 1 (path )'),
  ],
])('does not wait if the only upstream that has the block %s', async (_, request, answer) => {
  const { relay } = fixture({ a: 101, b: 100 }, { a: answer })
  const seen = await relay.ask({ ...request, directives: { minBlock: 101 } })
  expect([relay.sent, seen.tookMs < 500]).toEqual([{ a: 1, b: 0 }, true])
})

it.each([
  ['its time is over', { processingTimeoutMs: 1_200 }, 100, 1_200, 'min-block'],
  ['retries are disabled', { retryLimit: 0 }, 101, 10, 'header not found'],
])('waits no longer when %s', async (_, config, block, tookMs, outcome) => {
  const of = { chain, iface }
  const { relay } = fixture({ a: block }, { a: nodeError(-32000, 'header not found') }, of, config)
  const seen = await relay.ask({ directives: { minBlock: 101 } })
  expect(seen).toMatchObject({ tookMs, outcome: expect.stringContaining(outcome) as string })
})

it('keeps no other call from being the trial of a disabled upstream', async () => {
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
  ['the one that reported the block', [99, 101], 1],
  ['the first one while its head is unknown', [null, 101], 0],
])('of an upstream with URLs at different heads, asks %s', async (_, heads, expected) => {
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

it('does not fail over to a URL that has reported an older block meanwhile', async () => {
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

it('retries an upstream that lacked the block it had reported', async () => {
  const answers = [nodeError(-32000, 'header not found'), nodeError(-32000, 'header not found')]
  const { relay } = fixture({ a: 101 }, { a: () => answers.shift() ?? result('a') })
  expect((await relay.ask({ directives: { minBlock: 101 } })).outcome).toContain('"a"')
})

it('returns the error of a node that never gets the block it reported', async () => {
  const { relay } = fixture({ a: 101 }, { a: nodeError(-32000, 'header not found') })
  const seen = await relay.ask({ directives: { minBlock: 101 } })
  expect(seen.outcome).toContain('header not found')
  expect(seen.tookMs).toBeLessThan(2 * chain.blockTimeMs + 1_000)
})

it('does not keep a write from any upstream', async () => {
  const { relay } = fixture({ a: 100, b: 101 })
  await relay.ask({
    method: 'eth_sendRawTransaction',
    params: ['0x01'],
    directives: { minBlock: 101 },
  })
  expect(relay.sent).toEqual({ a: 1, b: 1 })
})

it('lets a client that leaves go', async () => {
  const { relay } = fixture({ a: 100 })
  const signal = AbortSignal.abort()
  expect((await relay.ask({ signal, directives: { minBlock: 101 } })).outcome).toBe('CallAborted')
})

describe('minContextSlot', () => {
  const notReached = nodeError(-32016, 'Minimum context slot has not been reached')
  const confirmed = { commitment: 'confirmed' }

  /** A node at this slot. A gateway in front of a node may drop the floor. */
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
    '%i with rpc-min-block %s: the higher one counts',
    async (minContextSlot, minBlock, expected) => {
      const { relay } = fleet({ a: 100, b: 101 }, { a: node(() => 100), b: node(() => 101) })
      const seen = await relay.ask({
        ...balance({ ...confirmed, minContextSlot }),
        directives: { minBlock },
      })
      expect(seen.upstream).toBe(expected)
    },
  )

  it.each([
    ['confirmed', 101, 0],
    ['finalized', 101, 32],
    ['processed', 102, 0],
  ])('waits for a %s slot that no node has reached', async (commitment, minContextSlot, behind) => {
    let slot = 100
    const { relay, head } = fleet({ a: 100 }, { a: node(() => slot) })
    const seen = relay.ask(balance({ commitment, minContextSlot }))
    relay.clock.after(300, () => {
      slot = 101 + behind
      head('a', slot)
    })
    expect((await seen).outcome).toContain(`"value":${minContextSlot}`)
  })

  it('does not wait for a processed slot that is above all confirmed ones', async () => {
    const { relay } = fleet({ a: 100 }, { a: node(() => 100) })
    const seen = await relay.ask(balance({ commitment: 'processed', minContextSlot: 101 }))
    expect(seen).toMatchObject({ upstream: 'a', tookMs: 10 })
  })

  it.each([
    ['the error of the node', true, 'Minimum context slot has not been reached'],
    ['an error of the router, and no older answer', false, 'min-block'],
  ])('is, where no node reaches it, %s', async (_, honours, expected) => {
    const { relay } = fleet({ a: 110 }, { a: node(() => 110, honours) })
    const seen = await relay.ask(balance({ minContextSlot: 100 }))
    expect(seen.outcome).toContain(expected)
    expect(seen.tookMs).toBeGreaterThanOrEqual(1_000)
    expect(seen.tookMs).toBeLessThan(1_200)
    expect(relay.pool.snapshot().upstreams).toMatchObject([{ state: 'eligible', fault: null }])
  })

  it.each(['confirmed', 'finalized', 'processed'])(
    'is met by each of 300 %s answers of a mixed fleet',
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
        // Heads are known as of up to a second ago.
        if (each % 5 === 0)
          for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) head(name, slot(at))
        const seen = await relay.ask(balance({ commitment, minContextSlot: floor }))
        const { result: said } = JSON.parse(seen.outcome) as {
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
