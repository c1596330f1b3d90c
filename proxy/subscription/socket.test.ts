// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { Sockets } from './socket.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

test('the cooldown of a URL grows with each failure, and resets after success or a long time', async () => {
  const { pool, clock } = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
  })
  const random = { next: () => 0.5 }
  const options = { pool, clock, random, config: { now: { strategy: 'round-robin' } } } as const
  const sockets = new Sockets(options as never)
  const socket = sockets.next(new Set(), 'eth_subscribe')!
  /** Seconds until the URL leaves its cooldown. */
  const lasts = async () => {
    let seconds = 0
    for (; !socket.isOpen; seconds++) await clock.advance(1_000)
    return seconds
  }
  const seconds: number[] = []
  for (let each = 0; each < 8; each++) {
    socket.failed()
    // Another topic reports the same failure.
    socket.failed()
    expect(sockets.next(new Set(), 'eth_subscribe')).not.toBe(socket)
    seconds.push(await lasts())
  }
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  socket.worked()
  socket.failed()
  expect(await lasts()).toBe(1)
  socket.failed()
  expect(await lasts()).toBe(2)
  await clock.advance(60_000)
  socket.failed()
  expect(await lasts()).toBe(1)
})
