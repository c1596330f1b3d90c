// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PoolFixture, chain } from './testing/pool-fixture.ts'
import { lagOf, tipOf } from './tip.ts'

const pace = { allowedLagBlocks: 2, blockTimeMs: 12_000 }
const head = (block: number, roseAgoMs = 0) => ({ block, atMs: 0, roseMs: -roseAgoMs })
const still = 37_000

describe('tipOf', () => {
  it.each<[string, readonly ReturnType<typeof head>[], number | null]>([
    ['nothing is known', [], null],
    ['one alone', [head(100)], 100],
    ['one alone that stands still', [head(100, still)], 100],
    ['two that agree', [head(100), head(100)], 100],
    ['two that disagree: the higher that rises', [head(200), head(100)], 200],
    ['two of which the higher stands still', [head(200, still), head(100)], 100],
    ['two that stand still', [head(200, still), head(100, still)], 200],
    ['one of three runs ahead', [head(1_000_000), head(100), head(101)], 101],
    ['one of three lags', [head(100), head(50), head(100)], 100],
    ['two of three within the allowed lag: the higher', [head(102), head(50), head(100)], 102],
    ['two of three lag', [head(100), head(50), head(50)], 50],
    ['two of five lead', [head(100), head(99), head(50), head(50), head(50)], 100],
    ['all apart: the one that two have reached', [head(90), head(60), head(30)], 60],
    ['block zero', [head(0), head(0)], 0],
  ])('%s', (_name, heads, tip) => {
    expect(tipOf(heads, null, pace, 0)).toBe(tip)
    expect(tipOf(heads.toReversed(), null, pace, 0)).toBe(tip)
  })

  it.each([
    ['as far as the chain can have grown', 112, 112],
    ['further than that, beside one that is not', 113, 100],
  ])('of two heads the higher is one that has grown %s', (_name, block, tip) => {
    const before = { block: 100, atMs: -11_000 }
    expect(tipOf([head(block), head(100)], before, pace, 0)).toBe(tip)
  })

  it('is a block that some upstream has, and no lone runner moves it', () => {
    const heights = fc.array(fc.nat(1_000), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(heights, fc.nat(20), (blocks, allowedLagBlocks) => {
        const heads = blocks.map((block) => head(block))
        const wide = { ...pace, allowedLagBlocks }
        expect(blocks).toContain(tipOf(heads, null, wide, 0))
        expect(tipOf([...heads, head(1_000_000)], null, wide, 0)).toBeLessThanOrEqual(
          Math.max(...blocks),
        )
      }),
    )
  })
})

describe('lagOf', () => {
  it.each([
    ['it reported the tip', { block: 100, tipThen: 100, tip: 100, agoMs: 0 }, 0],
    ['it was behind when it reported', { block: 95, tipThen: 100, tip: 100, agoMs: 0 }, 5],
    ['it was ahead when it reported', { block: 103, tipThen: 100, tip: 100, agoMs: 0 }, 0],
    ['the tip grew at its usual pace', { block: 100, tipThen: 100, tip: 103, agoMs: 36_000 }, 0],
    ['it grew faster than that', { block: 100, tipThen: 100, tip: 104, agoMs: 36_000 }, 1],
    ['it stood still', { block: 95, tipThen: 100, tip: 100, agoMs: 60_000 }, 5],
    ['it was behind, and it grew faster', { block: 95, tipThen: 100, tip: 102, agoMs: 12_000 }, 6],
    ['a reorg lowered it', { block: 100, tipThen: 105, tip: 101, agoMs: 12_000 }, 1],
    ['it was the first to report', { block: 100, tipThen: null, tip: 102, agoMs: 0 }, 2],
    ['the tip is unknown', { block: 100, tipThen: null, tip: null, agoMs: 0 }, 0],
    ['its head is unknown', { block: null, tipThen: null, tip: 100, agoMs: 0 }, 0],
  ])('%s', (_name, { block, tipThen, tip, agoMs }, lag) => {
    const latest = block === null ? null : { block, atMs: -agoMs }
    expect(lagOf(latest, tipThen, tip, 0, 12_000)).toBe(lag)
  })

  it('is never negative, and never more than the blocks between', () => {
    const block = fc.nat(10_000)
    fc.assert(
      fc.property(block, block, block, fc.nat(10_000_000), (own, tipThen, tip, agoMs) => {
        const lag = lagOf({ block: own, atMs: 0 }, tipThen, tip, agoMs, 12_000)
        expect(lag).toBeGreaterThanOrEqual(0)
        expect(lag).toBeLessThanOrEqual(Math.max(0, tip - own))
      }),
    )
  })
})

describe('the tip of a pool', () => {
  const { blockTimeMs } = chain

  it('is that of upstreams in service', () => {
    const fixture = new PoolFixture('abc')
    for (const [name, block] of Object.entries({ a: 110, b: 110, c: 100 }))
      fixture.sees(name, block)
    expect(fixture.pool.tip).toBe(110)
    for (const name of 'ab') fixture.disable(name)
    expect(fixture.pool.tip).toBe(100)
  })

  it('is unknown when nothing was reported for a minute', async () => {
    const fixture = new PoolFixture('a')
    fixture.sees('a', 100)
    await fixture.clock.advance(60_001)
    expect(fixture.pool.tip).toBe(null)
  })

  it('is not lowered by an answer that a newer one has overtaken', () => {
    const fixture = new PoolFixture('a')
    fixture.sees('a', 100)
    fixture.sees('a', 99, 5)
    expect(fixture.pool.tip).toBe(100)
    fixture.sees('a', 99)
    expect(fixture.pool.tip).toBe(99)
  })

  it('is that of the one of two that keeps up, and the other one lags', async () => {
    const fixture = new PoolFixture('ab')
    for (let block = 1_000; block < 1_010; block++) {
      fixture.sees('a', block)
      fixture.sees('b', Math.min(block, 1_002))
      await fixture.clock.advance(blockTimeMs)
    }
    expect(fixture.pool.tip).toBe(1_009)
    expect(fixture.events).toEqual(['b: eligible > lagging'])
  })

  it('has one lag that answers nothing, and says so', () => {
    const fixture = new PoolFixture('ab')
    const [, silent] = fixture.pool.upstreams
    const troubles = () => fixture.pool.snapshot().upstreams.map(({ trouble }) => trouble)
    for (const name of 'ab') fixture.sees(name, 100)
    for (const url of silent?.urls ?? [])
      for (let times = 0; times < 2; times++)
        silent?.failed(url, { name: 'probe: timeout', weight: 1 })
    expect(troubles()).toEqual([null, '2 failures in a row, the last: probe: timeout'])
    fixture.sees('a', 110)
    expect(troubles()[1]).toMatch(
      /^\d+ blocks behind the tip; 2 failures in a row, the last: probe/,
    )
  })

  it('has nobody lag who was asked a while ago, while the chain keeps its pace', async () => {
    const fixture = new PoolFixture('ab')
    fixture.sees('a', 100)
    for (let block = 100; block < 110; block++) {
      fixture.sees('b', block)
      await fixture.clock.advance(blockTimeMs)
    }
    expect(fixture.upstream('a').lagBlocks).toBe(0)
  })
})
