// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import {
  RelayFixture,
  ethereum,
  nodeError,
  result,
  scripted,
  type Upstreams,
} from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const raw = `0xf86c${'80'.repeat(0x6c)}`
const write = { method: 'eth_sendRawTransaction', params: [raw] }
const fixture = (upstreams: Upstreams) => new RelayFixture(chain, iface, scripted(upstreams))
const hangs: ScriptedAnswer = { hang: true }
const refused: ScriptedAnswer = { fault: 'refused' }

it.each(['nonce too low', 'insufficient funds for gas * price + value', 'already known'])(
  'a hanging node does not delay the rejection by two others: %s',
  async (message) => {
    const refusal = nodeError(-32000, message)
    const reply = await fixture({ a: hangs, b: refusal, c: refusal }).ask(write)
    expect(reply.outcome).toContain(message)
    expect(reply.tookMs).toBeLessThan(5_000)
  },
)

it('an unknown error of one node waits for another node that is still working', async () => {
  const slow: ScriptedAnswer = { ...nodeError(-32000, 'already known'), afterMs: 5_000 }
  const unknown = nodeError(-32099, 'the flux capacitor is offline')
  expect((await fixture({ a: unknown, b: slow }).ask(write)).outcome).toBe(slow.body)
})

it('waits for the first verification of the only upstream, as a read does', async () => {
  const own = nodeError(-32000, 'already known')
  const relay = fixture({ a: { script: () => own, verified: false } })
  const [upstream] = relay.pool.upstreams
  relay.clock.after(300, () => {
    for (const url of upstream!.urls) url.verified = true
    upstream!.availability.verified()
  })
  expect((await relay.ask(write)).outcome).toBe(own.body)
})

it('the client gets a hash that all upstreams agree on, and no upstream is blamed', async () => {
  const own = result(`0x${'ab'.repeat(32)}`)
  const relay = fixture({ a: own, b: own, c: own })
  for (let each = 0; each < 10; each++)
    expect((await relay.ask({ ...write, params: [`${raw}0${each}`] })).outcome).toBe(own.body)
  expect(relay.events).toEqual([])
})

it('the client never gets a hash that only one upstream returns', async () => {
  const own = result(`0x${'ab'.repeat(32)}`)
  expect((await fixture({ a: own }).ask(write)).outcome).toBe('integrity')
})

it('a write is sent twice at most when connections are refused', async () => {
  const relay = fixture({ a: refused })
  const reply = await relay.ask(write)
  expect([reply.outcome, relay.sent]).toEqual(['upstream-failed', { a: 2 }])
  const accepted = nodeError(-32000, 'nonce too low')
  let requests = 0
  const restarts = new RelayFixture(chain, iface, {
    a: { script: () => (requests++ === 0 ? refused : accepted) },
  })
  expect((await restarts.ask(write)).outcome).toBe(accepted.body)
})

it('a write that may have arrived is never resent to the same node', async () => {
  const relay = fixture({ a: { fault: 'reset' }, b: refused })
  await relay.ask(write)
  expect(relay.sent).toEqual({ a: 1, b: 1 })
})

it('a write that arrived on the second attempt is not resent', async () => {
  let requests = 0
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => (requests++ === 1 ? { fault: 'reset' } : refused) },
  })
  await relay.ask(write)
  expect(relay.sent).toEqual({ a: 2 })
})

it.each([
  ...['eth_sendPrivateTransaction', 'eth_sendPrivateRawTransaction', 'eth_sendBundle'],
  ...['eth_cancelPrivateTransaction', 'eth_cancelBundle', 'mev_sendBundle'],
])('%s goes to one node, even if that one is slow', async (method) => {
  const slow = result('0x1', { afterMs: 9_000 })
  const relay = fixture({ a: slow, b: slow, c: slow })
  expect((await relay.ask({ method, params: [raw] })).outcome).toBe(slow.body)
  expect(relay.sent).toEqual({ a: 1, b: 0, c: 0 })
})

describe('a client that left while its write waited gets nothing sent', () => {
  const send = { ...write, method: 'eth_sendRawTransactionConditional' }
  const leaving = async (relay: RelayFixture) => {
    const client = new AbortController()
    const reply = relay.begin({ ...send, signal: client.signal })
    await relay.clock.advance(10)
    client.abort()
    await relay.clock.advance(2_000)
    return (await reply).outcome
  }

  it('for a limit', async () => {
    const a = {
      script: () => result('0x'),
      urls: [{ limits: { perSecond: 1, perDay: null, concurrent: null } }],
    }
    const relay = new RelayFixture(chain, iface, { a })
    while (relay.pool.upstreams[0]!.urls[0]!.waitMs === 0) await relay.ask(send)
    const { sent } = relay
    expect(await leaving(relay)).toBe('CallAborted')
    expect(relay.sent).toEqual(sent)
  })

  it('for a verification', async () => {
    const relay = new RelayFixture(chain, iface, {
      a: { script: () => result('0x'), verified: false },
    })
    const reply = leaving(relay)
    for (const url of relay.pool.upstreams[0]!.urls) url.verified = true
    relay.pool.upstreams[0]!.availability.verified()
    expect(await reply).toBe('CallAborted')
    expect(relay.sent).toEqual({ a: 0 })
  })
})
