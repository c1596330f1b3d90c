// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import {
  RelayFixture,
  ethereum,
  result,
  type FixtureUpstream,
  type Upstreams,
} from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const ok = result('0x1')
const okBody = ok.body
const refused: ScriptedAnswer = { fault: 'refused' }
const trouble = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"database is closed"}}'

function fixture(upstreams: Readonly<Record<string, FixtureUpstream | ScriptedAnswer>>) {
  const full = Object.entries(upstreams).map(([name, each]): [string, FixtureUpstream] => [
    name,
    'script' in each ? each : { script: () => each },
  ])
  return new RelayFixture(chain, iface, Object.fromEntries(full))
}

describe('the breaker', () => {
  it('opens after two empty pools, fails fast, and closes when an upstream is up', async () => {
    const relay = fixture({ a: { script: () => ok, verified: false } })
    const outcomes = [await relay.ask(), await relay.ask(), await relay.ask()]
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'no-upstream',
      'no-upstream',
      'breaker-open',
    ])
    for (const url of relay.pool.upstreams[0]!.urls) url.verified = true
    relay.pool.upstreams[0]!.availability.verified()
    expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.events).toEqual(['breaker open', 'a: unverified > eligible', 'breaker closed'])
  })

  it.each(['a', 'ab'])(
    'gives way to 429 while a limit delays the first verification of %s',
    async (names) => {
      const upstreams = [...names].map((name) => [name, { script: () => ok, verified: false }])
      const relay = fixture(Object.fromEntries(upstreams) as Upstreams)
      for (const { urls } of relay.pool.upstreams) urls[0]!.cooldown.begin(120_000)
      for (let each = 0; each < 4; each++) {
        const { outcome, tookMs } = await relay.ask()
        expect([outcome, tookMs]).toEqual(['rate-limited', 0])
      }
    },
  )

  it('counts consecutive empty pools: an answer resets the count', async () => {
    const relay = fixture({ a: { script: () => ok, verified: false } })
    const [upstream] = relay.pool.upstreams
    const outcomes = [(await relay.ask()).outcome]
    for (const url of upstream!.urls) url.verified = true
    upstream!.availability.verified()
    outcomes.push((await relay.ask()).outcome)
    for (const url of upstream!.urls) url.verified = false
    for (let each = 0; each < 3; each++) outcomes.push((await relay.ask()).outcome)
    const empty = 'no-upstream'
    expect(outcomes).toEqual([empty, okBody, empty, empty, 'breaker-open'])
  })

  it('stays closed for a client that excludes every upstream', async () => {
    const relay = fixture({ a: ok, b: ok })
    for (let each = 0; each < 4; each++) {
      const reply = await relay.ask({ directives: { blockProviders: ['a', 'b'] } })
      expect(reply.outcome).toBe('no-upstream')
    }
    expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.events).toEqual([])
  })

  it('stays closed for calls that need an add-on without upstreams', async () => {
    const relay = fixture({ a: ok })
    const traced = { method: 'debug_traceTransaction', params: ['0x12'] }
    for (let each = 0; each < 4; each++)
      expect((await relay.ask(traced)).outcome).toBe('addon-not-declared')
    expect((await relay.ask()).outcome).toBe(okBody)
  })
})

describe('in a total outage the breaker', () => {
  /** Disables every upstream, then sends two calls that find none in service. */
  async function outage(answer: ScriptedAnswer): Promise<RelayFixture> {
    const relay = fixture({ a: answer, b: answer })
    for (let each = 0; each < 9 && !relay.events.includes('breaker open'); each++) await relay.ask()
    expect(relay.events.at(-1)).toBe('breaker open')
    return relay
  }
  const sentBy = ({ sent }: RelayFixture) => sent['a']! + sent['b']!

  it.each<[string, ScriptedAnswer]>([
    ['refuse connections', refused],
    ['do not answer', { hang: true }],
    ['answer with a page', { status: 503, body: '<h1>Service unavailable</h1>' }],
    ['answer with an empty body', { status: 502, body: '' }],
    ['report an internal error', { status: 500, body: trouble }],
    ['report an internal error with HTTP 200', { body: trouble }],
  ])(
    'opens when all %s: it admits one trial call, and the others fail at once',
    async (_, answer) => {
      const relay = await outage(answer)
      const before = sentBy(relay)
      const trial = relay.begin()
      const others = [relay.begin(), relay.begin()]
      await relay.clock.advance(1)
      for (const other of others) expect((await other).outcome).toBe('breaker-open')
      expect(sentBy(relay) - before).toBe(1)
      await relay.clock.advance(60_000)
      expect((await trial).outcome).not.toBe('breaker-open')
    },
  )

  it('closes when the trial gets an answer', async () => {
    const relay = await outage(refused)
    relay.transport('a').play(() => ok)
    relay.transport('b').play(() => ok)
    expect((await relay.ask()).outcome).toBe(okBody)
    expect(relay.events.at(-1)).toBe('breaker closed')
  })

  it('admits another trial after the first has hung for three seconds', async () => {
    const relay = await outage({ hang: true })
    const first = relay.begin()
    await relay.clock.advance(2_900)
    const early = relay.begin()
    await relay.clock.advance(0)
    expect((await early).outcome).toBe('breaker-open')
    relay.transport('a').play(() => ok)
    relay.transport('b').play(() => ok)
    await relay.clock.advance(100)
    expect((await relay.ask()).outcome).toBe(okBody)
    await relay.clock.advance(60_000)
    await first
  })

  it('admits no third trial just because the first one ended', async () => {
    const relay = await outage({ hang: true })
    const client = new AbortController()
    const first = relay.begin({ signal: client.signal })
    await relay.clock.advance(3_000)
    const second = relay.begin()
    client.abort()
    expect((await first).outcome).not.toBe('breaker-open')
    const third = relay.begin()
    await relay.clock.advance(0)
    expect((await third).outcome).toBe('breaker-open')
    await relay.clock.advance(60_000)
    await second
  })

  it('stays open when the trial gets a page', async () => {
    const relay = await outage(refused)
    const page: ScriptedAnswer = { status: 502, body: '<h1>Bad gateway</h1>' }
    relay.transport('a').play(() => page)
    relay.transport('b').play(() => page)
    expect((await relay.ask()).outcome).toBe(page.body)
    expect(relay.events.at(-1)).toBe('breaker open')
  })

  it('also opens for calls that need an add-on', async () => {
    const relay = await outage(refused)
    const traced = { method: 'debug_traceTransaction', params: ['0x12'] }
    const trial = relay.begin()
    expect((await relay.ask(traced)).outcome).toBe('breaker-open')
    await relay.clock.advance(60_000)
    await trial
  })
})
