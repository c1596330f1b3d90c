// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headInPace, runsAhead } from './lone-head.ts'

const pace = { allowedLagBlocks: 3, blockTimeMs: 12_000 }

describe('headInPace', () => {
  const agreed = { block: 100, atMs: 0 }
  /** Ten blocks' time after the tip was agreed on. */
  const nowMs = 120_000
  const seen = (block: number, agoMs = 0) => ({ block, atMs: nowMs - agoMs })
  it.each([
    ['one goes on where the other stands still', [seen(110), seen(100)], 110],
    [
      'one goes on, one lags, one says that it does by far',
      [seen(110), seen(100), seen(-390)],
      110,
    ],
    ['as far as the pace and the allowed lag', [seen(113), seen(100)], 113],
    ['further than that', [seen(114), seen(100)], 100],
    ['one far ahead does not hide one that keeps up', [seen(1e6), seen(110), seen(90)], 110],
    ['two that agree outvote it', [seen(110), seen(100), seen(98)], null],
    ['two that are behind and do not agree', [seen(110), seen(100), seen(96)], 110],
    [
      'one that was there when it was last heard of is no other vote',
      [seen(110), seen(100), seen(100, 120_000)],
      110,
    ],
    ['nobody is in pace', [seen(200), seen(150)], null],
    ['nobody told anything', [], null],
  ])('%s', (_name, told, block) => {
    expect(headInPace(told, agreed, pace)?.block ?? null).toBe(block)
  })

  it('is never above what the chain may have grown to', () => {
    const sighting = fc.record({ block: fc.nat(1_000), atMs: fc.nat(1_000_000) })
    fc.assert(
      fc.property(fc.array(sighting), sighting, (told, then) => {
        const head = headInPace(told, then, pace)
        if (head === null) return
        expect(told).toContain(head)
        const growth = Math.max(0, head.atMs - then.atMs) / pace.blockTimeMs
        expect(head.block).toBeLessThanOrEqual(then.block + growth + pace.allowedLagBlocks)
      }),
    )
  })
})

describe('runsAhead', () => {
  const seen = (block: number, agoMs = 0) => ({ block, atMs: 1_000_000 - agoMs })
  it.each([
    ['nobody else is known', [], false],
    ['one other is far below: either may be right', [seen(100)], false],
    ['two others are far below', [seen(100), seen(101)], true],
    ['one of three is near', [seen(100), seen(101), seen(199)], false],
    ['one is just within the allowed lag', [seen(100), seen(197)], false],
    ['one is just beyond it', [seen(100), seen(196)], true],
    ['one told it a moment ago: a block may have come', [seen(100), seen(196, 1)], false],
    ['one told it a block time ago', [seen(100), seen(195, 12_000)], true],
    ['one told it more than a block time ago', [seen(100), seen(195, 12_001)], false],
    ['one was heard of later', [seen(100), seen(196, -60_000)], true],
  ])('%s', (_name, others, ahead) => {
    expect(runsAhead(seen(200), others, pace, false)).toBe(ahead)
  })
})
