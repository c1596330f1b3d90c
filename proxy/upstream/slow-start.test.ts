// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it } from 'vitest'
import { PoolFixture } from './testing/pool-fixture.ts'

it('gives full weight to an upstream that was never out of service', () => {
  expect(new PoolFixture('a').upstream('a').earned(0)).toBe(1)
})

it('raises the weight of a recovered upstream linearly within 10 s', async () => {
  const { clock, upstream } = withUpstream()
  await clock.advance(1_000)
  upstream.rejoined()
  const now = clock.nowMs()
  expect([0, 5_000, 10_000, 60_000].map((ms) => upstream.earned(now + ms))).toEqual([0, 0.5, 1, 1])
})

function withUpstream() {
  const fixture = new PoolFixture('a')
  return { clock: fixture.clock, upstream: fixture.upstream('a') }
}
