// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

test('each subscription counts as an active client for as long as it lasts', async () => {
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
  })
  const { tracker } = fixture.pool
  expect(tracker.subscriptions).toBe(0)
  const first = await fixture.join('eth_subscribe', ['newPendingTransactions'])
  const second = await fixture.join('eth_subscribe', ['newPendingTransactions'], 'other')
  expect(tracker.subscriptions).toBe(2)
  first.leave()
  expect(tracker.subscriptions).toBe(1)
  second.leave()
  second.leave()
  expect(tracker.subscriptions).toBe(0)
  // The client leaves before the subscription opens.
  const third = fixture.ask('eth_subscribe', ['newPendingTransactions'])
  third.leave()
  await fixture.clock.advance(100)
  expect(tracker.subscriptions).toBe(0)
})
