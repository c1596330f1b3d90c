// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { RelayFixture, ethereum, result } from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

/** The body of a request, as a test describes it. */
class Incoming {
  isRepeatable = true

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {}
}

const slow: ScriptedAnswer = result('0x1', { afterMs: 900 })
const write = { method: 'eth_sendRawTransaction', params: ['0x02'] }

function fixture(a: ScriptedAnswer = slow): RelayFixture {
  return new RelayFixture(chain, iface, { a: { script: () => a }, b: { script: () => slow } })
}

function askedOf({ sent }: RelayFixture): number {
  return Object.values(sent).reduce((sum, each) => sum + each, 0)
}

/** Both upstreams are slow now, and there is a hedge to spend. */
async function slowed(): Promise<RelayFixture> {
  const own = fixture(result('0x1'))
  own.transport('b').play(() => result('0x1'))
  for (let each = 0; each < 100; each++) await own.ask()
  for (const name of ['a', 'b']) own.transport(name).play(() => slow)
  return own
}

test('a read that still comes in is not hedged, however slow its upstream', async () => {
  const own = await slowed()
  const before = askedOf(own)
  await own.ask({ body: new Incoming() })
  expect(askedOf(own) - before).toBe(1)
})

test('a write that still comes in goes to one upstream', async () => {
  const own = fixture()
  await own.ask({ ...write, body: new Incoming() })
  expect(askedOf(own)).toBe(1)
})

test.each([
  ['can be sent again is tried elsewhere', true, 2],
  ['is gone in part is not', false, 1],
])('a request that %s', async (_, isRepeatable, requests) => {
  const own = fixture({ fault: 'refused' })
  const { outcome } = await own.ask({ body: Object.assign(new Incoming(), { isRepeatable }) })
  expect(askedOf(own)).toBe(requests)
  expect(outcome === 'upstream-failed').toBe(!isRepeatable)
})

test.each([
  ['once it is whole', true, [0, 1, 0]],
  ['never when it breaks off', false, [0, 0, 0]],
])('a request takes a session of its upstream %s', async (_, isWhole, sessions) => {
  let whole = () => {}
  const seen: number[] = []
  const own = fixture()
  const [upstream] = own.pool.upstreams
  const look = () => seen.push(upstream?.usedSlots ?? NaN)
  own.transport('a').play(() => {
    look()
    if (isWhole) whole()
    look()
    return isWhole ? slow : { fault: 'reset' }
  })
  const whenWhole = (run: () => void) => (whole = run)
  const body = Object.assign(new Incoming(), { whenWhole, isRepeatable: false })
  await own.ask({ body, directives: { selectProvider: 'a' } })
  // It ended too late for the attempt.
  whole()
  expect([...seen, upstream?.usedSlots]).toEqual(sessions)
})
