// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { ByteStream } from '../upstream/wire.ts'
import { RelayFixture, ethereum, result } from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

/** A request's body that says of itself what a test wants. */
class Incoming {
  isRepeatable = true
  isWhole = false

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

test.each([
  ['still comes in is not hedged, however slow its upstream', Infinity, 1],
  ['is whole when its upstream is slow is hedged', 0, 2],
  ['is whole by and by is hedged then', 500, 2],
])('a read that %s', async (_, wholeMs, asked) => {
  const own = await slowed()
  const before = askedOf(own)
  const body = new Incoming()
  const beganMs = own.clock.nowMs()
  Object.defineProperty(body, 'isWhole', { get: () => own.clock.nowMs() - beganMs >= wholeMs })
  await own.ask({ body })
  expect(askedOf(own) - before).toBe(asked)
})

test.each([
  ['still comes in goes to one upstream', false, 1],
  ['is whole goes to all of them', true, 2],
])('a write that %s', async (_, isWhole, asked) => {
  const own = fixture()
  await own.ask({ ...write, body: Object.assign(new Incoming(), { isWhole }) })
  expect(askedOf(own)).toBe(asked)
})

test.each([
  ['can be sent again is tried elsewhere', true, 2],
  ['is gone in part is not', false, 1],
])('a request that %s', async (_, isRepeatable, asked) => {
  const own = fixture({ fault: 'refused' })
  const { outcome } = await own.ask({ body: Object.assign(new Incoming(), { isRepeatable }) })
  expect(askedOf(own)).toBe(asked)
  expect(outcome === 'upstream-failed').toBe(!isRepeatable)
})

const hang: ScriptedAnswer = { hang: true }

test.each([
  ['still comes in is no fault of the upstream', false, []],
  ['had come in is one', true, ['a: eligible > disabled']],
])('an answer that is not there in time while the request %s', async (_, isTaken, events) => {
  const own = new RelayFixture(chain, iface, {
    a: {
      script: ({ body }) => {
        if (isTaken && body && !(body instanceof Uint8Array)) void take(body)
        return hang
      },
    },
  })
  for (let each = 0; each < 5; each++) {
    const { outcome } = await own.ask({ body: Object.assign(new Incoming(), { isWhole: true }) })
    expect(outcome).toBe('timeout')
  }
  expect(own.events.filter((event) => event.startsWith('a:'))).toEqual(events)
})

async function take(body: ByteStream): Promise<void> {
  for await (const piece of body) void piece
}
