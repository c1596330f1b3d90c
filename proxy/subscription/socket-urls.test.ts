// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily } from './families/ethereum.ts'
import { SocketUrls } from './socket-urls.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

test('a URL that fails cools down longer each time, and begins anew when it has worked or failed long ago', async () => {
  const { pool, clock } = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
  })
  const urls = new SocketUrls(pool, clock, 'round-robin')
  const { cooldowns } = urls
  const { url } = urls.next(() => false)!
  const seconds = []
  for (let each = 0; each < 8; each++) {
    cooldowns.begin(url)
    // The same trouble, met by another topic.
    cooldowns.begin(url)
    seconds.push((cooldowns.leastMs ?? 0) / 1_000)
    await clock.advance(cooldowns.leastMs ?? 0)
  }
  cooldowns.begin(url)
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  expect(urls.next(() => false)?.url).not.toBe(url)
  cooldowns.end(url)
  expect(cooldowns.leastMs).toBeNull()
  cooldowns.begin(url)
  expect(cooldowns.leastMs).toBe(1_000)
  await clock.advance(1_000)
  cooldowns.begin(url)
  expect(cooldowns.leastMs).toBe(2_000)
  await clock.advance(62_000)
  cooldowns.begin(url)
  expect(cooldowns.leastMs).toBe(1_000)
})
