// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumKit } from './chains/ethereum-kit.ts'
import { Places } from './places.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

test('a place that fails rests longer each time, and begins anew when it has done its part or failed long ago', async () => {
  const { pool, clock } = await SubscriptionFixture.create({
    chainId: 'ETH1',
    kit: ethereumKit,
    answer: () => undefined,
  })
  const places = new Places(pool, clock, 'round-robin')
  const place = places.next(new Set())!
  const rests = []
  for (let each = 0; each < 8; each++) {
    places.rest(place)
    // The same trouble, told by another topic.
    places.rest(place)
    rests.push((places.restMs ?? 0) / 1_000)
    await clock.advance(places.restMs ?? 0)
  }
  places.rest(place)
  expect(rests).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  expect(places.next(new Set())?.url).not.toBe(place.url)
  places.proven(place)
  expect(places.restMs).toBeNull()
  places.rest(place)
  expect(places.restMs).toBe(1_000)
  await clock.advance(1_000)
  places.rest(place)
  expect(places.restMs).toBe(2_000)
  await clock.advance(62_000)
  places.rest(place)
  expect(places.restMs).toBe(1_000)
})
