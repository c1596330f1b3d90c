// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { madeMsOf, isAheadByDate } from './block-dates.ts'

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
  const head = (block: number, agoMs: number | null) => ({
    block,
    madeMs: agoMs === null ? null : wallMs - agoMs,
  })
  it.each([
    ['the lower one is still syncing', head(1_026, 5_000), head(526, 6_005_000), true],
    ['the lower one is ten blocks behind', head(110, 5_000), head(100, 125_000), true],
    ['it understates its head', head(1_026, 5_000), head(526, 6_005_000), true],
    ['the lower one cannot show its own', head(1_026, 5_000), head(526, null), true],
    ['the higher one is made up of a newer one', head(1_001_026, 5_000), head(1_026, 6_000), false],
    ['the higher one cannot be shown', head(1_026, null), head(526, 5_000), false],
    ['the higher one is in the future', head(2_026, -12_000_000), head(1_026, 5_000), false],
    ['the chain is faster than its spec says', head(110, 0), head(100, 10_000), null],
    ['the chain stands still', head(110, 9e6), head(100, 9e6 + 30_000), null],
  ])('%s', (_, higher, lower, expected) => {
    expect(isAheadByDate(higher, lower, wallMs, pace)).toBe(expected)
  })

  it('on a chain that was seen to be faster, the lower one is behind after as many blocks', () => {
    const seen = { ...pace, blockTimeMs: 1_000 }
    const after = (agoMs: number) => isAheadByDate(head(110, 0), head(100, agoMs), wallMs, seen)
    expect([after(4_000), after(4_001)]).toEqual([null, true])
    expect(isAheadByDate(head(1_100, 0), head(100, 10_000), wallMs, seen)).toBe(false)
  })
})
