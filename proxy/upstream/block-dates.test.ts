// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { compareDates, madeMsOf, type Verdict } from './block-dates.ts'

const madeMs = Date.UTC(2026, 0, 2, 3, 4, 5)

describe('when a block was made', () => {
  it.each<[string, unknown, number | null]>([
    ['seconds', madeMs / 1_000, madeMs],
    ['seconds as text', String(madeMs / 1_000), madeMs],
    ['seconds in hexadecimal', `0x${(madeMs / 1_000).toString(16)}`, madeMs],
    ['milliseconds', madeMs, madeMs],
    ['microseconds as text', `${madeMs}000`, madeMs],
    ['a date', '2026-01-02T03:04:05.000000000Z', madeMs],
    ['the first block of a test chain', 0, 0],
    ['nothing', null, null],
    ['another text', 'yesterday', null],
    ['an object', {}, null],
  ])('%s', (_, value, expected) => {
    expect(madeMsOf(value)).toBe(expected)
  })
})

describe('of two heads', () => {
  const pace = { allowedLagBlocks: 3, blockTimeMs: 12_000, leastBlockTimeMs: 240 }
  const wallMs = madeMs
  /** @param agoMs how long ago the block was made that is three below the head */
  const head = (block: number, agoMs: number | null, blockTimeMs: number | null = null) => ({
    block,
    madeMs: agoMs === null ? null : wallMs - agoMs,
    toldMs: wallMs,
    blockTimeMs,
  })
  const honest = head(100, 50_000, 12_000)
  it.each<[string, ReturnType<typeof head>, ReturnType<typeof head>, Verdict]>([
    ['the lower one is still syncing', head(1_026, 45_000), head(526, 6_005_000), 'behind'],
    ['the lower one is ten blocks behind', head(110, 45_000), head(100, 165_000), 'behind'],
    ['the lower one cannot show its own', head(1_026, 45_000), head(526, null), 'behind'],
    ['the higher one cannot be shown', head(1_026, null), head(526, 45_000), 'refuted'],
    ['the higher one is in the future', head(110, -60_001), honest, 'refuted'],
    ['so many blocks were never made', head(1_001_026, 45_000), head(1_026, 46_000), 'refuted'],
    ['nor so many at the pace of the lower one', head(150, 0), honest, 'refuted'],
    ['the higher one says that it is of now', head(110, 0), honest, 'keeps-up'],
    ['or of a future that clocks allow', head(120, -60_000), honest, 'keeps-up'],
    ['the chain is faster than its spec says', head(110, 35_000), head(100, 45_000), 'keeps-up'],
    ['the chain stands still', head(110, 9e6), head(100, 9e6 + 30_000), 'unknown'],
    ['one that lags may be slow', head(104, 45_000), head(100, 85_000), 'unknown'],
    ['blocks come in bursts', head(108, 45_000), head(100, 46_000, 12_000), 'keeps-up'],
  ])('%s', (_, higher, lower, expected) => {
    expect(compareDates(higher, lower, wallMs, pace)).toBe(expected)
  })

  it.each<[number, Verdict]>([
    [100_000, 'unknown'],
    [130_000, 'unknown'],
    [142_000, 'behind'],
    [142_000 + 7 * 12_000, 'behind'],
  ])('the lower one is one of two that agree, and %i ms old', (agoMs, expected) => {
    expect(compareDates(head(110, 45_000), head(100, agoMs), wallMs, pace, true)).toBe(expected)
  })

  it('more blocks than there was time for at the usual pace are not believed against two that agree', () => {
    const higher = (block: number) =>
      compareDates(head(block, 45_000), head(100, 165_000, 12_000), wallMs, pace, true)
    expect([110, 123, 124, 140].map(higher)).toEqual(['behind', 'behind', 'refuted', 'refuted'])
  })

  it('the lower one told its head a while ago', () => {
    const lower = { ...head(100, 110_000, 12_000), toldMs: wallMs - 60_000 }
    expect(compareDates(head(105, 45_000), lower, wallMs, pace)).toBe('keeps-up')
  })

  it.each([
    ['that was seen to be faster', { ...pace, blockTimeMs: 1_000 }, null],
    ['whose own blocks show that it is faster', pace, 1_000],
  ])('on a chain %s, the lower one is behind after as many blocks', (_, seen, blockTimeMs) => {
    const after = (agoMs: number) =>
      compareDates(head(130, 3_000), head(100, agoMs, blockTimeMs), wallMs, seen)
    expect([after(10_000), after(12_001), after(33_000)]).toEqual(['keeps-up', 'behind', 'behind'])
  })

  it('on a slow one, blocks of its own that are slower make nobody newer', () => {
    const lower = head(100, 165_000, 1e9)
    expect(compareDates(head(110, 45_000), lower, wallMs, pace)).toBe('behind')
  })
})
