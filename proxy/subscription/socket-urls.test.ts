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
  const urls = new SocketUrls(pool, clock, { next: () => 0.5 }, 'round-robin')
  const { url } = urls.next(() => false)!
  /** For how many seconds it is not asked. */
  const lasts = async () => {
    let seconds = 0
    for (; urls.coolsDown(url); seconds++) await clock.advance(1_000)
    return seconds
  }
  const seconds: number[] = []
  for (let each = 0; each < 8; each++) {
    urls.failed(url)
    // The same trouble, met by another topic.
    urls.failed(url)
    expect(urls.next(() => false)?.url).not.toBe(url)
    seconds.push(await lasts())
  }
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  urls.worked(url)
  urls.failed(url)
  expect(await lasts()).toBe(1)
  urls.failed(url)
  expect(await lasts()).toBe(2)
  await clock.advance(60_000)
  urls.failed(url)
  expect(await lasts()).toBe(1)
})
