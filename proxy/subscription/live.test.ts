// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { NodeRefused } from './subscriptions.ts'
import { ethereumKit } from './chains/ethereum-kit.ts'
import { solanaKit } from './chains/solana-kit.ts'
import { SubscriptionFixture, type FixtureOptions } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

async function setUp(options: Partial<FixtureOptions> = {}) {
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    kit: ethereumKit,
    answer: () => undefined,
    ...options,
  })
  const { one, two } = fixture.sockets
  return { fixture, one: one as TestSocket, two: two as TestSocket }
}

const pending = ['newPendingTransactions']

test('what nobody can make up for goes on elsewhere with what comes next', async () => {
  const { fixture, one, two } = await setUp()
  const hearing = await fixture.join('eth_subscribe', pending)
  one.tell('"0x1"')
  one.cut()
  await fixture.clock.advance(100)
  two.tell('"0x2"')
  expect(hearing.texts).toEqual(['"0x1"', '"0x2"'])
  expect(fixture.events).toContain('newPendingTransactions leaves one: reset: cut')
  expect(fixture.calls).toEqual([])
  hearing.leave()
  expect(fixture.clock.pending).toBe(0)
})

test('the node itself says what is wrong with a request', async () => {
  const { fixture, one } = await setUp()
  one.answer = { code: -32602, message: 'invalid argument 0' }
  const hearing = await fixture.join('eth_subscribe', ['surprise', 5])
  expect(hearing.refused).toBeInstanceOf(NodeRefused)
  const { error } = hearing.refused as NodeRefused
  expect(Buffer.from(error).toString()).toBe('{"code":-32602,"message":"invalid argument 0"}')
  expect(fixture.clock.pending).toBe(0)
})

test('the trouble of one node is none of another', async () => {
  const { fixture, one, two } = await setUp()
  one.answer = { code: -32005, message: 'rate limit exceeded' }
  const hearing = await fixture.join('eth_subscribe', pending)
  expect(hearing.refused).toBeNull()
  expect(two.held.size).toBe(1)
  expect(fixture.pool.upstreams[0]?.sockets[0]?.holdOff.active).toBe(true)
  expect(fixture.pool.upstreams[0]?.urls[0]?.holdOff.active).toBe(false)
  expect(fixture.events).toContain('one is held off at ws://one.test')
})

test('without a WebSocket URL there is nothing to hear it from, and it says so', async () => {
  const { fixture } = await setUp({ sockets: [], others: ['one'] })
  const hearing = await fixture.join('eth_subscribe', pending)
  expect(String(hearing.refused)).toMatch(/no upstream has a WebSocket URL/)
})

test('what the node ends with its last event is neither unsubscribed nor shared any more', async () => {
  const { fixture, one, two } = await setUp({
    chainId: 'SLOTCHAIN',
    kit: (ask, clock) => solanaKit({ ask, clock, blockTimeMs: 400 }),
  })
  const first = await fixture.join('signatureSubscribe', ['x'])
  const second = await fixture.join('signatureSubscribe', ['x'])
  const settled = '{"context":{"slot":5},"value":{"err":null}}'
  one.tell(settled)
  expect([first.texts, second.texts]).toEqual([[settled], [settled]])
  expect(one.asked).toEqual(['signatureSubscribe ["x"]'])
  first.leave()
  const third = await fixture.join('signatureSubscribe', ['x'])
  expect([...one.asked, ...two.asked]).toHaveLength(2)
  third.leave()
  expect(fixture.clock.pending).toBe(0)
})
