// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './families/ethereum.ts'
import { Sockets } from './socket.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

test('a URL that fails cools down longer each time, and begins anew when it has worked or failed long ago', async () => {
  const { pool, clock } = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
  })
  const random = { next: () => 0.5 }
  const parts = { pool, clock, random, config: { now: { strategy: 'round-robin' } } } as const
  const sockets = new Sockets(parts as never)
  const socket = sockets.next(new Set())!
  /** For how many seconds it is not asked. */
  const lasts = async () => {
    let seconds = 0
    for (; !socket.isOpen; seconds++) await clock.advance(1_000)
    return seconds
  }
  const seconds: number[] = []
  for (let each = 0; each < 8; each++) {
    socket.failed()
    // The same failure, met by another topic.
    socket.failed()
    expect(sockets.next(new Set())).not.toBe(socket)
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
