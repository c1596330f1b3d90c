// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it } from 'vitest'
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
  'a node that hangs does not hold up the refusal of two others: %s',
  async (message) => {
    const refusal = nodeError(-32000, message)
    const seen = await fixture({ a: hangs, b: refusal, c: refusal }).ask(write)
    expect(seen.outcome).toContain(message)
    expect(seen.tookMs).toBeLessThan(5_000)
  },
)

it('a hash that all upstreams return alike is passed on, and is no failure of theirs', async () => {
  const own = result(`0x${'ab'.repeat(32)}`)
  const relay = fixture({ a: own, b: own, c: own })
  for (let each = 0; each < 10; each++)
    expect((await relay.ask({ ...write, params: [`${raw}0${each}`] })).outcome).toBe(own.body)
  expect(relay.events).toEqual([])
})

it('a hash that one upstream alone returns is not passed on', async () => {
  const own = result(`0x${'ab'.repeat(32)}`)
  expect((await fixture({ a: own }).ask(write)).outcome).toBe('integrity')
})

it('a write whose connection was refused is sent once more, and no third time', async () => {
  const relay = fixture({ a: refused })
  const seen = await relay.ask(write)
  expect([seen.outcome, relay.sent]).toEqual(['upstream-failed', { a: 2 }])
  const accepted = nodeError(-32000, 'nonce too low')
  let requests = 0
  const restarts = new RelayFixture(chain, iface, {
    a: { script: () => (requests++ === 0 ? refused : accepted) },
  })
  expect((await restarts.ask(write)).outcome).toBe(accepted.body)
})

it('a write that may have arrived is not sent to the same node again', async () => {
  const relay = fixture({ a: { fault: 'reset' }, b: refused })
  await relay.ask(write)
  expect(relay.sent).toEqual({ a: 1, b: 1 })
})

it('a write that arrived at the second try is not sent a third time', async () => {
  let requests = 0
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => (requests++ === 1 ? { fault: 'reset' } : refused) },
  })
  await relay.ask(write)
  expect(relay.sent).toEqual({ a: 2 })
})
