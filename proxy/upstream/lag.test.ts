// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lagOf } from './lag.ts'

const blockTimeMs = 12_000

describe('lagOf', () => {
  it.each([
    ['it told the tip', { told: 100, tipThen: 100, tip: 100, agoMs: 0 }, 0],
    ['it was behind when it told', { told: 95, tipThen: 100, tip: 100, agoMs: 0 }, 5],
    ['it was ahead when it told', { told: 103, tipThen: 100, tip: 100, agoMs: 0 }, 0],
    ['the tip grew at its usual pace', { told: 100, tipThen: 100, tip: 103, agoMs: 36_000 }, 0],
    ['it grew faster than that', { told: 100, tipThen: 100, tip: 104, agoMs: 36_000 }, 1],
    [
      'in a part of a block time a block may come',
      { told: 100, tipThen: 100, tip: 103, agoMs: 24_001 },
      0,
    ],
    ['in two no third one comes', { told: 100, tipThen: 100, tip: 103, agoMs: 24_000 }, 1],
    ['it stood still: nothing is owed', { told: 95, tipThen: 100, tip: 100, agoMs: 60_000 }, 5],
    ['it was behind, and it grew faster', { told: 95, tipThen: 100, tip: 102, agoMs: 12_000 }, 6],
    ['a reorganisation lowered it', { told: 100, tipThen: 105, tip: 101, agoMs: 12_000 }, 1],
    ['it was the first to tell', { told: 100, tipThen: null, tip: 102, agoMs: 0 }, 2],
    ['the tip is unknown', { told: 100, tipThen: null, tip: null, agoMs: 0 }, 0],
    ['its head is unknown', { told: null, tipThen: null, tip: 100, agoMs: 0 }, 0],
  ])('%s', (_name, { told, tipThen, tip, agoMs }, lag) => {
    const nowMs = 1_000_000
    const latest = told === null ? null : { block: told, atMs: nowMs - agoMs }
    expect(lagOf({ latest, tipThen }, tip, nowMs, blockTimeMs)).toBe(lag)
  })

  it('is never negative, and never more than the blocks between', () => {
    const block = fc.nat(10_000)
    fc.assert(
      fc.property(block, block, block, fc.nat(10_000_000), (told, tipThen, tip, agoMs) => {
        const latest = { block: told, atMs: 0 }
        const lag = lagOf({ latest, tipThen }, tip, agoMs, blockTimeMs)
        expect(lag).toBeGreaterThanOrEqual(0)
        expect(lag).toBeLessThanOrEqual(Math.max(0, tip - told))
      }),
    )
  })
})
