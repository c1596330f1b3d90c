// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

/** Upstreams with these heads; one with null has none that is known. */
function fixture(
  heads: Readonly<Record<string, number | null>>,
  answers: Readonly<Record<string, ScriptedAnswer | (() => ScriptedAnswer)>> = {},
) {
  const scriptOf = (name: string) => () => {
    const answer = answers[name] ?? result(name)
    return typeof answer === 'function' ? answer() : answer
  }
  const nodes = Object.keys(heads).map((name) => [name, { script: scriptOf(name) }] as const)
  const relay = new RelayFixture(chain, iface, Object.fromEntries(nodes))
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
  let asked = 0
  relay.pool.askHeads = () => (asked += 1)
  const seen = relay.ask({ directives: { minBlock: 101 } })
  relay.clock.after(chain.blockTimeMs, () => {
    head('b', 101)
  })
  expect((await seen).upstream).toBe('b')
  expect(asked).toBeGreaterThan(1)
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
