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

/** A request body with properties that a test sets. */
class Incoming {
  isRepeatable = true

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {}
}

const slow: ScriptedAnswer = result('0x1', { afterMs: 900 })
const write = { method: 'eth_sendRawTransaction', params: ['0x02'] }

function fixture(a: ScriptedAnswer = slow): RelayFixture {
  return new RelayFixture(chain, iface, { a: { script: () => a }, b: { script: () => slow } })
}

function requestsOf({ sent }: RelayFixture): number {
  return Object.values(sent).reduce((sum, each) => sum + each, 0)
}

/** Slow upstreams with a filled hedge budget. */
async function slowed(): Promise<RelayFixture> {
  const own = fixture(result('0x1'))
  own.transport('b').play(() => result('0x1'))
  for (let each = 0; each < 100; each++) await own.ask()
  for (const name of ['a', 'b']) own.transport(name).play(() => slow)
  return own
}

test('an unfinished read request gets no hedge', async () => {
  const own = await slowed()
  const before = requestsOf(own)
  await own.ask({ body: new Incoming() })
  expect(requestsOf(own) - before).toBe(1)
})

test('an unfinished write request goes to one upstream', async () => {
  const own = fixture()
  await own.ask({ ...write, body: new Incoming() })
  expect(requestsOf(own)).toBe(1)
})

test.each([
  ['is repeatable is retried elsewhere', true, 2],
  ['is not repeatable fails', false, 1],
])('a request that %s', async (_, isRepeatable, requests) => {
  const own = fixture({ fault: 'refused' })
  const { outcome } = await own.ask({ body: Object.assign(new Incoming(), { isRepeatable }) })
  expect(requestsOf(own)).toBe(requests)
  expect(outcome === 'upstream-failed').toBe(!isRepeatable)
})

test.each([
  ['once it is complete', true, [0, 1, 0]],
  ['never if it is aborted', false, [0, 0, 0]],
])('a request takes a slot of its upstream %s', async (_, isWhole, sessions) => {
  let whole = () => {}
  const slots: number[] = []
  const own = fixture()
  const [upstream] = own.pool.upstreams
  const record = () => slots.push(upstream?.usedSlots ?? NaN)
  own.transport('a').play(() => {
    record()
    if (isWhole) whole()
    record()
    return isWhole ? slow : { fault: 'reset' }
  })
  const whenWhole = (run: () => void) => (whole = run)
  const body = Object.assign(new Incoming(), { whenWhole, isRepeatable: false })
  await own.ask({ body, directives: { selectProvider: 'a' } })
  // The request completes after the attempt has ended.
  whole()
  expect([...slots, upstream?.usedSlots]).toEqual(sessions)
})
