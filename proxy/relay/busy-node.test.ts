// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const ok = result('0x1')
const bitcoin = (await loadCatalog([])).find('BTC')!
const chains = {
  BTC: { chain: bitcoin, iface: bitcoin.interfaces.get('jsonrpc')! },
  ETH1: await ethereum(),
}
const queueFull: ScriptedAnswer = { status: 503, body: 'Work queue depth exceeded' }
const overloaded = nodeError(-32000, 'server is overloaded')

function fixture(id: keyof typeof chains, busy: ScriptedAnswer, forMs: number, names = ['a']) {
  const { chain, iface } = chains[id]
  const script = () => (relay.clock.nowMs() < forMs ? busy : ok)
  const upstreams = Object.fromEntries(names.map((name) => [name, { script }]))
  const relay: RelayFixture = new RelayFixture(chain, iface, upstreams)
  return relay
}

describe.each<[keyof typeof chains, ScriptedAnswer, string, string]>([
  ['BTC', queueFull, 'getblockcount', 'sendrawtransaction'],
  ['ETH1', overloaded, 'eth_getBalance', 'eth_sendRawTransaction'],
])('a busy node of %s', (id, busy, read, write) => {
  it.each([read, write])('is waited for by %s', async (method) => {
    const relay = fixture(id, busy, 300)
    const { outcome, tookMs } = await relay.ask({ method, params: [] })
    expect(outcome).toBe(ok.body)
    expect(tookMs).toBeLessThan(1_000)
    expect([relay.events, relay.sent['a']! <= 6]).toEqual([[], true])
  })

  it('of two gets each write again after a pause', async () => {
    const relay = fixture(id, busy, 300, ['a', 'b'])
    expect((await relay.ask({ method: write, params: [] })).outcome).toBe(ok.body)
    expect(relay.sent['a']! + relay.sent['b']!).toBeLessThanOrEqual(8)
  })
})

it('a node that stays busy ends the call with its attempts or its budget', async () => {
  const relay = fixture('BTC', queueFull, Infinity)
  const { outcome, call, tookMs } = await relay.ask({ method: 'getblockcount', params: [] })
  expect([outcome, call.journal.attempts.length]).toEqual([queueFull.body, 10])
  expect(tookMs).toBeLessThan(5_000)
  const write = await relay.ask({ method: 'sendrawtransaction', params: [] })
  expect([write.outcome, relay.sent['a']! < 100]).toEqual([queueFull.body, true])
  expect(relay.pool.upstreams[0]!.state).toBe('eligible')
})

it('a call goes to another node first', async () => {
  const { chain, iface } = chains.BTC
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => queueFull },
    b: { script: () => ok },
  })
  for (let each = 0; each < 5; each++) {
    const { outcome, tookMs } = await relay.ask({ method: 'getblockcount', params: [] })
    expect([outcome, tookMs < 50]).toEqual([ok.body, true])
  }
})
