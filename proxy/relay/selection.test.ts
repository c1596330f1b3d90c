// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Strategy } from '../config/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, result } from './testing/relay-fixture.ts'

/** Minimum share of the best upstream's weight. */
const weightFloor = 0.05
let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

function fixture(
  strategy: Strategy,
  upstreams: Readonly<Record<string, ScriptedAnswer>>,
): RelayFixture {
  const scripts = Object.entries(upstreams).map(([name, answer]) => [
    name,
    { script: () => answer },
  ])
  return new RelayFixture(chain, iface, Object.fromEntries(scripts) as never, {
    strategy,
    // Without retries and hedges, each request is one selection.
    retryLimit: 0,
  })
}

/** Share of each upstream over this many requests. */
async function shares(relay: RelayFixture, requests = 1_000): Promise<Record<string, number>> {
  const before = relay.sent
  for (let each = 0; each < requests; each++) await relay.ask()
  return Object.fromEntries(
    Object.entries(relay.sent).map(([name, sent]) => [name, (sent - before[name]!) / requests]),
  )
}

const fast = result('0x1', { afterMs: 20 })
const slow = result('0x1', { afterMs: 220 })

describe('selection', () => {
  it('is uniform among equal upstreams', async () => {
    const share = await shares(fixture('balanced', { a: fast, b: fast, c: fast }), 3_000)
    for (const each of Object.values(share)) expect(each).toBeCloseTo(1 / 3, 1)
  })

  it.each([
    // Qualities by latency: (20 + 5) / (220 + 5) = 1/9; the floor is 1/20 of the best.
    ['balanced', 1 / 10],
    ['latency', weightFloor / (1 + weightFloor)],
  ] as const)('by %s gives a slow upstream the computed share', async (strategy, share) => {
    const relay = fixture(strategy, { a: fast, b: slow })
    await shares(relay, 50)
    expect((await shares(relay, 3_000))['b']).toBeCloseTo(share, 1)
  })

  it('alternates by round-robin regardless of quality', async () => {
    expect(await shares(fixture('round-robin', { a: fast, b: slow }), 100)).toEqual({
      a: 0.5,
      b: 0.5,
    })
  })

  it('lowers the share of a failing upstream and restores it afterwards', async () => {
    const relay = fixture('availability', { a: fast, b: fast })
    let turn = 0
    relay
      .transport('b')
      .play(() => (turn++ % 2 ? fast : { status: 500, body: 'oops', afterMs: 20 }))
    await shares(relay, 200)
    expect((await shares(relay))['b']).toBeLessThan(0.15)
    relay.transport('b').play(() => fast)
    await relay.clock.advance(300_000)
    expect((await shares(relay))['b']).toBeCloseTo(0.5, 1)
  })

  it('ramps up the share of an upstream that was out of service', async () => {
    const relay = fixture('balanced', { a: fast, b: fast })
    const { availability, urls } = relay.pool.upstreams[1]!
    availability.failed(5, 'test')
    availability.succeeded()
    expect(urls).toHaveLength(1)
    const first = await shares(relay, 50)
    await relay.clock.advance(10_000)
    const later = await shares(relay)
    expect(first['b']).toBeLessThan(0.25)
    expect(later['b']).toBeCloseTo(0.5, 1)
  })

  it('records the candidates for the response header', async () => {
    const { call } = await fixture('balanced', { a: fast, b: slow }).ask()
    expect(call.journal.candidates).toEqual(
      ['a', 'b'].map((name) => ({
        ...{ name, rank: 0, exclusionReason: null, amount: null, why: null, record: null },
        weight: 1,
        availability: 1,
        latency: 1,
        sync: 1,
        earned: 1,
      })),
    )
  })
})
