// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'
import type { Pool } from '../upstream/pool.ts'

const setUp = () =>
  SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
  })

/** Removes an upstream from the config, as a reload does. */
function remove(pool: Pool, name: string): void {
  pool.commit({ upstreams: pool.upstreams.filter((each) => each.name !== name), added: [] })
}

test('topics leave a removed upstream at once, and continue at another one', async () => {
  const fixture = await setUp()
  const client = await fixture.join('eth_subscribe', ['newPendingTransactions'])
  const { one, two } = fixture.sockets
  one?.push('"0x1"')
  await fixture.clock.advance(10)
  fixture.events.length = 0
  remove(fixture.pool, 'one')
  await fixture.clock.advance(10)
  // The subscription that watches the socket's head also ends.
  expect(fixture.events.filter((event) => event === 'one -1')).toHaveLength(2)
  expect(fixture.events.filter((event) => !/[+-]1$/.test(event))).toEqual([
    'newPendingTransactions leaves one: it was removed',
    'newPendingTransactions by two',
  ])
  two?.push('"0x2"')
  await fixture.clock.advance(10)
  expect(client.texts).toEqual(['"0x1"', '"0x2"'])
  expect(client.ended).toBe(null)
})

test('an upstream removed before its answer gets no topic', async () => {
  const fixture = await setUp()
  const joining = fixture.join('eth_subscribe', ['newPendingTransactions'])
  remove(fixture.pool, 'one')
  await joining
  expect(fixture.events).toContain('newPendingTransactions by two')
  expect(fixture.events).not.toContain('newPendingTransactions by one')
})
