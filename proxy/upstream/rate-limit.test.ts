// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { RateLimit } from './rate-limit.ts'

/** A URL whose node has just refused a rate of 50 a second. */
function learned(concurrent: number | null = null) {
  const clock = new VirtualClock()
  const limit = new RateLimit(clock, { perSecond: null, perDay: null, concurrent })
  for (let each = 0; each < 50; each++) limit.answered()
  limit.refused()
  return { clock, limit }
}

test('a learned limit that has expired is not revived by another limit', async () => {
  const { clock, limit } = learned(1)
  expect(limit.learnedPerSecond).toBe(40)
  await clock.advance(6 * 60_000)
  limit.begin()
  expect([limit.admits(), limit.binding, limit.notice]).toEqual([false, 'concurrent 1', null])
  expect(limit.learnedPerSecond).toBeNull()
})

test('reading the wait does not prolong a learned limit, and holding a call back does', async () => {
  for (const holds of [false, true]) {
    const { clock, limit } = learned()
    await clock.advance(4 * 60_000)
    for (let each = 0; each < 60; each++) limit.begin()
    expect([limit.waitMs, holds && limit.admits()]).toEqual([1_000, false])
    await clock.advance(2 * 60_000)
    expect(limit.learnedPerSecond !== null).toBe(holds)
  }
})

test('only answers of the last second teach a rate', async () => {
  const { clock, limit } = learned()
  for (let each = 0; each < 1_100; each++) limit.begin()
  await clock.advance(900)
  for (let each = 0; each < 30; each++) limit.answered()
  await clock.advance(500)
  limit.refused()
  expect(limit.learnedPerSecond).toBe(24)
})
