// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corroboratedTip, sightingLifeMs, TipMemory } from './tip.ts'

const pace = { allowedLagBlocks: 2, blockTimeMs: 12_000 }
const now = (block: number) => ({ block, atMs: 0 })

describe('corroboratedTip', () => {
  it.each([
    ['nothing is known', [], null],
    ['one alone is believed', [100], 100],
    ['two that agree', [100, 100], 100],
    ['two within the allowed lag: the higher', [100, 98], 100],
    ['two that disagree: the lower, so that nobody is evicted', [200, 100], 100],
    ['one of three runs ahead', [1_000_000, 100, 101], 101],
    ['one of three lags', [100, 50, 100], 100],
    ['two of three lag: two outvote one', [100, 50, 50], 50],
    ['two of five lead', [100, 99, 50, 50, 50], 100],
    ['all at different heights: the one that two have reached', [90, 60, 30], 60],
    ['block zero', [0, 0], 0],
  ])('%s', (_name, blocks, tip) => {
    expect(corroboratedTip(blocks.map(now), pace)).toBe(tip)
  })

  it.each([
    ['the lower was told before: at the same moment it may have been as high', 98, -1, 100],
    ['the lower was told at the same time', 98, 0, 100],
    ['the lower was told a moment later, when a block may have come', 98, 1, 98],
    ['it has caught up since', 99, 1, 100],
    ['the higher was told a block ago', 99, 12_000, 100],
    ['the higher was told two blocks ago', 99, 12_001, 99],
    ['however long ago: the same block', 100, 60_000, 100],
  ])('of two within the allowed lag: %s', (_name, block, atMs, tip) => {
    const told = [now(100), { block, atMs }]
    expect(corroboratedTip(told, pace)).toBe(tip)
    expect(corroboratedTip(told.toReversed(), pace)).toBe(tip)
  })

  it('is a block that somebody has, whatever the order, and no lone runner moves it', () => {
    const heights = fc.array(fc.nat(1_000), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(heights, fc.nat(20), (blocks, lag) => {
        const told = blocks.map(now)
        const wide = { ...pace, allowedLagBlocks: lag }
        const tip = corroboratedTip(told, wide)
        expect(blocks).toContain(tip)
        expect(corroboratedTip(told.toReversed(), wide)).toBe(tip)
        expect(corroboratedTip([...told, now(1_000_000)], wide)).toBeLessThanOrEqual(
          Math.max(...blocks),
        )
      }),
    )
  })
})

describe('TipMemory', () => {
  it('keeps the highest tip while nobody tells of one as high', () => {
    const memory = new TipMemory()
    expect(memory.recall(null, 0)).toBe(null)
    memory.keep(100, 0)
    expect(memory.recall(null, 1)).toBe(100)
    expect(memory.recall(90, 1)).toBe(100)
    expect(memory.recall(101, 1)).toBe(101)
    memory.keep(90, 2)
    expect(memory.recall(90, 2)).toBe(100)
  })

  it('keeps a tip that is seen again for as long as one that is new', () => {
    const memory = new TipMemory()
    memory.keep(100, 0)
    memory.keep(100, sightingLifeMs)
    expect(memory.recall(97, 2 * sightingLifeMs)).toBe(100)
    expect(memory.recall(97, 2 * sightingLifeMs + 1)).toBe(97)
  })

  it('follows a chain that went back once the old tip has not been seen for long', () => {
    const memory = new TipMemory()
    memory.keep(100, 0)
    memory.keep(97, sightingLifeMs)
    expect(memory.recall(97, sightingLifeMs)).toBe(100)
    expect(memory.recall(97, sightingLifeMs + 1)).toBe(97)
    memory.keep(97, sightingLifeMs + 1)
    expect(memory.recall(null, sightingLifeMs + 2)).toBe(97)
  })
})
