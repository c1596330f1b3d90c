// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { latest, PoolFixture, chain } from './testing/pool-fixture.ts'

const { blockTimeMs } = chain
const twoDaysMs = 2 * 86_400_000

describe('the tip of a pool', () => {
  it('counts only upstreams in service', () => {
    const fixture = new PoolFixture('abc')
    for (const [name, block] of Object.entries({ a: 110, b: 110, c: 100 }))
      fixture.sees(name, block)
    expect(fixture.pool.tip).toBe(110)
    for (const name of 'ab') fixture.disable(name)
    expect(fixture.pool.tip).toBe(100)
  })

  it('stays known without traffic', async () => {
    const fixture = new PoolFixture('ab')
    for (const name of 'ab') fixture.sees(name, 100)
    await fixture.clock.advance(3_600_000)
    expect(fixture.pool.tip).toBe(100)
  })

  it('is not lowered by a reordered report', () => {
    const fixture = new PoolFixture('a')
    fixture.sees('a', 100)
    fixture.sees('a', 99, 5)
    expect(fixture.pool.tip).toBe(100)
    fixture.sees('a', 99)
    expect(fixture.pool.tip).toBe(99)
  })

  it('ignores a report from before a jump', async () => {
    const fixture = new PoolFixture('a')
    fixture.sees('a', 1_000)
    await fixture.clock.advance(100)
    fixture.sees('a', 9_000)
    fixture.sees('a', 1_000, 50)
    fixture.sees('a', 9_001)
    expect(fixture.events).toEqual(['a: eligible > unverified'])
    expect(fixture.upstream('a').urls[0]?.head?.block).toBe(9_001)
  })

  it('follows the faster of two nodes, and the other lags', async () => {
    const fixture = new PoolFixture('ab')
    for (let block = 1_000; block < 1_010; block++) {
      fixture.sees('a', block)
      fixture.sees('b', Math.min(block, 1_002))
      await fixture.clock.advance(blockTimeMs)
    }
    expect(fixture.pool.tip).toBe(1_009)
    expect(fixture.events).toEqual(['b: eligible > lagging'])
  })

  it.each([
    ['says that it is syncing', { isSyncing: true, ageMs: twoDaysMs, atMs: 0 }],
    ['its latest block is 2 d old', { isSyncing: null, ageMs: twoDaysMs, atMs: 0 }],
  ])('is not taken from a node that reports first when %s', async (why, status) => {
    const fixture = new PoolFixture('ab')
    const [a, b] = [fixture.upstream('a'), fixture.upstream('b')]
    fixture.sees('a', 230_719)
    fixture.pool.tracker.observeStatus(a, status)
    await fixture.clock.advance(150)
    fixture.sees('b', 1_320_320)
    fixture.pool.tracker.observeStatus(b, { isSyncing: false, ageMs: 4_000, atMs: 0 })
    for (let block = 230_720; block < 230_740; block++) {
      await fixture.clock.advance(400)
      fixture.sees('a', block)
      expect(fixture.pool.tip).toBe(1_320_320)
      expect(fixture.chosen({ block: latest })).toBe('b')
    }
    const [first] = fixture.pool.snapshot().upstreams
    expect(first?.why).toBe(`${why}; 1089581 blocks behind the tip`)
    fixture.disable('b')
    expect(fixture.chosen({ block: latest })).toBe('a')
  })

  it('includes a node once it has caught up', () => {
    const fixture = new PoolFixture('ab')
    const a = fixture.upstream('a')
    fixture.sees('b', 1_000)
    fixture.pool.tracker.observeStatus(fixture.upstream('b'), {
      isSyncing: false,
      ageMs: 0,
      atMs: 0,
    })
    fixture.sees('a', 990)
    fixture.pool.tracker.observeStatus(a, { isSyncing: true, ageMs: twoDaysMs, atMs: 0 })
    expect(a.lags).toBe(true)
    fixture.sees('a', 1_000)
    expect(fixture.pool.tracker.needsStatus(a)).toBe(true)
    fixture.pool.tracker.observeStatus(a, { isSyncing: false, ageMs: 2_000, atMs: 0 })
    expect(a.lags).toBe(false)
    expect(fixture.events).toEqual(['a: eligible > lagging', 'a: lagging > eligible'])
  })

  it('ignores a status from before the head fell back', () => {
    const fixture = new PoolFixture('ab')
    const [a, b] = [fixture.upstream('a'), fixture.upstream('b')]
    for (const name of 'ab') fixture.sees(name, 1_000)
    fixture.pool.tracker.observeStatus(a, { isSyncing: false, ageMs: 0, atMs: 0 })
    fixture.pool.tracker.observeStatus(b, { isSyncing: false, ageMs: twoDaysMs, atMs: 0 })
    fixture.sees('a', 992)
    expect(fixture.pool.tip).toBe(1_000)
    expect(fixture.pool.tracker.needsStatus(a)).toBe(true)
  })

  it('marks a silent node as lagging with a reason', () => {
    const fixture = new PoolFixture('ab', undefined, { failureThreshold: 5 })
    const [, silent] = fixture.pool.upstreams
    const reasons = () => fixture.pool.snapshot().upstreams.map(({ why }) => why)
    for (const name of 'ab') fixture.sees(name, 100)
    for (const url of silent?.urls ?? [])
      for (let times = 0; times < 2; times++)
        silent?.failed(url, { reason: 'probe: timeout', weight: 1 })
    expect(reasons()).toEqual([null, '2 failures in a row, the last: probe: timeout'])
    fixture.sees('a', 110)
    expect(reasons()[1]).toMatch(/^\d+ blocks behind the tip; 2 failures in a row, the last: probe/)
  })

  it('marks no node as lagging for an old report while the chain grows at its usual pace', async () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 100)
    for (let block = 100; block < 110; block++) {
      fixture.sees('b', block)
      await fixture.clock.advance(blockTimeMs)
    }
    expect(fixture.upstream('a').lagBlocks).toBe(0)
  })

  it.each([
    ['keeps up', 1_011, 110_000, 'eligible'],
    ['keeps up, and was polled just now', 1_020, 0, 'eligible'],
    ['was as far behind then', 1_000, 110_000, 'lagging'],
    ['is behind now', 1_011, 0, 'lagging'],
  ])(
    'compares a head with the tip at the time of its poll: the node %s',
    async (_, block, ageMs, state) => {
      const fixture = new PoolFixture('ab')
      const [a] = fixture.pool.upstreams
      for (const name of 'ab') fixture.sees(name, 1_000)
      await fixture.clock.advance(20 * blockTimeMs)
      const atMs = fixture.clock.nowMs() - ageMs
      fixture.sees('b', 1_020)
      // Another replica polled it.
      fixture.pool.observeHead(a!, block, atMs, a!.urls[0]!, ageMs)
      expect(a!.state).toBe(state)
      expect(a!.latest).toMatchObject({ block, atMs })
    },
  )

  it('is confirmed by each repeated report of a head', async () => {
    const fixture = new PoolFixture('ab')
    const { clock, pool } = fixture
    for (const name of 'ab') fixture.sees(name, 100)
    await clock.advance(50)
    fixture.sees('a', 100)
    expect(fixture.upstream('a').latest).toEqual({ block: 100, atMs: 50, roseMs: 0 })
    await clock.advance(3 * blockTimeMs)
    expect(pool.tracker.highestHead).toBe(100)
    await clock.advance(1)
    expect(pool.tracker.highestHead).toBe(0)
  })

  it('is compared with a repeated head at once after a rise', async () => {
    const fixture = new PoolFixture('ab')
    for (const name of 'abab') fixture.sees(name, 100)
    fixture.sees('a', 102)
    fixture.sees('b', 100)
    expect(fixture.upstream('b').lagBlocks).toBe(2)
    fixture.sees('a', 101 + chain.allowedLagBlocks)
    fixture.sees('b', 100)
    expect(fixture.upstream('b').state).toBe('lagging')
  })
})
