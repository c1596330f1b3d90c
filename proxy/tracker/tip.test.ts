// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasJumped, lagOf, type SyncStatus, tipOf, whyOutdated } from './tip.ts'

const pace = { allowedLagBlocks: 2, blockTimeMs: 12_000 }
const fresh: SyncStatus = { isSyncing: false, ageMs: 5_000, atMs: 0 }
const old: SyncStatus = { isSyncing: false, ageMs: 2 * 86_400_000, atMs: 0 }
const syncing: SyncStatus = { isSyncing: true, ageMs: null, atMs: 0 }
const future: SyncStatus = { isSyncing: false, ageMs: -3_600_000, atMs: 0 }

/** A node with this block, reported this long ago. */
const at = (block: number, status: SyncStatus | null = null, agoMs = 0) => ({
  head: { block, atMs: -agoMs, roseMs: -agoMs },
  status,
})

type Nodes = readonly ReturnType<typeof at>[]

describe('tipOf', () => {
  it.each<[string, Nodes, number | null]>([
    ['no head is known', [], null],
    ['one node', [at(100)], 100],
    ['block zero', [at(0), at(0)], 0],
    ['two nodes agree', [at(100), at(100)], 100],
    ['two nodes within the allowed lag: the higher', [at(102), at(100)], 102],
    ['two nodes apart, nothing else known: the higher', [at(200), at(100)], 200],
    ['one of three runs ahead', [at(1_000_000), at(100), at(101)], 101],
    ['one of three lags', [at(100), at(50), at(100)], 100],
    ['two of three lag', [at(100), at(50), at(50)], 50],
    ['two of five lead', [at(100), at(99), at(50), at(50), at(50)], 100],
    ['three nodes apart: the highest that two have reached', [at(90), at(60), at(30)], 60],
    [
      'four nodes apart, the lowest fresh: the highest that two have reached',
      [at(113), at(108), at(102, fresh), at(102)],
      108,
    ],
    ['two of three lag and report syncing', [at(100), at(50, syncing), at(51, syncing)], 100],
    ['a syncing node beside one at the tip', [at(230_719, syncing), at(1_320_320)], 1_320_320],
    ['an old block beside a fresh one', [at(230_719, old), at(1_320_320, fresh)], 1_320_320],
    ['two old blocks beside a fresh one', [at(50, old), at(51, old), at(100, fresh)], 100],
    ['the chain has halted: all blocks are old', [at(100, old), at(98, old), at(60, old)], 100],
    ['all nodes are syncing', [at(100, syncing), at(60, syncing)], 100],
    [
      'a syncing node whose block is fresh counts',
      [at(102, { ...fresh, isSyncing: true }), at(100, fresh)],
      102,
    ],
    [
      'one of three runs far ahead, and all are fresh',
      [at(9_000, fresh), at(101, fresh), at(100, fresh)],
      101,
    ],
    [
      'one of three runs far ahead, and one of the others is fresh',
      [at(9_000, fresh), at(101), at(100, fresh)],
      101,
    ],
    [
      'one of three runs far ahead, and it alone is fresh',
      [at(9_000, fresh), at(101), at(100)],
      9_000,
    ],
    [
      'one of three runs ahead as far as the chain may grow',
      [at(105, fresh), at(101, fresh), at(100, fresh)],
      105,
    ],
    [
      'one of three runs ahead as far as the chain may grow, and the others report later',
      [at(105, fresh, 400), at(101, fresh, 200), at(100, fresh)],
      105,
    ],
    ['three nodes apart, the highest fresh', [at(90, fresh), at(60), at(30)], 90],
    [
      'a head that was fresh but has stalled',
      [
        { head: { block: 11, atMs: 0, roseMs: -50_000 }, status: { ...fresh, atMs: -50_000 } },
        at(45),
        at(52),
      ],
      45,
    ],
    [
      'one of three runs ahead, and only the lowest is known to be fresh',
      [at(120, old), at(114, old), at(113, fresh)],
      114,
    ],
    ['two nodes apart, the lower fresh', [at(200, old), at(100, fresh)], 100],
    ['two nodes apart, both ahead of the clock', [at(200, future), at(100, future)], 200],
    [
      'a head that its node has not confirmed for over a minute',
      [at(200, null, 60_001), at(100), at(100)],
      100,
    ],
    [
      'heads without a report for an hour',
      [at(100, null, 3_600_000), at(99, null, 3_600_000)],
      100,
    ],
  ])('%s', (_name, nodes, tip) => {
    expect(tipOf(nodes, pace)).toBe(tip)
    expect(tipOf(nodes.toReversed(), pace)).toBe(tip)
  })

  it('is a block that some node has, and no single node can move it', () => {
    const heights = fc.array(fc.nat(1_000), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(heights, fc.nat(20), (blocks, allowedLagBlocks) => {
        const nodes = blocks.map((block) => at(block))
        const wide = { ...pace, allowedLagBlocks }
        expect(blocks).toContain(tipOf(nodes, wide))
        expect(tipOf([...nodes, at(1_000_000)], wide)).toBeLessThanOrEqual(Math.max(...blocks))
      }),
    )
  })
})

describe('whyOutdated', () => {
  const ahead = [at(1_000, fresh)]
  it.each<[string, ReturnType<typeof at>, Nodes, string | null]>([
    ['its status is unknown', at(100), ahead, null],
    ['its block is fresh', at(999, fresh), ahead, null],
    ['it is syncing', at(100, syncing), ahead, 'says that it is syncing'],
    [
      'it is syncing, and its block is old',
      at(100, { ...old, isSyncing: true }),
      [],
      'says that it is syncing',
    ],
    [
      'it indexes old blocks, and its block is fresh',
      at(999, { ...fresh, isSyncing: true }),
      ahead,
      null,
    ],
    ['its block is old, and another is fresh', at(100, old), ahead, 'its latest block is 2 d old'],
    [
      'its block is hours old',
      at(100, { ...old, ageMs: 5 * 3_600_000 }),
      ahead,
      'its latest block is 5 h old',
    ],
    ['its block is old, and the other is within the allowed lag', at(998, old), ahead, null],
    ['its block is old, and so is the other', at(100, old), [at(1_000, old)], null],
  ])('%s', (_name, node, others, why) => {
    expect(whyOutdated(node, [node, ...others], pace)).toBe(why)
  })
})

describe('hasJumped', () => {
  const url = (jumpsPassed = 0) => ({ head: { block: 1_000, atMs: 0 }, jumpsPassed })
  it.each([
    ['as far as the chain can have grown', url(), 1_012, false],
    ['further', url(), 1_013, true],
    ['backwards, further', url(), 987, true],
    ['further, as in earlier jumps', url(1), 1_024, false],
    ['the first head', { head: null, jumpsPassed: 0 }, 1_000_000, false],
  ])('%s', (_name, given, block, isJump) => {
    expect(hasJumped(given, block, 11_000, pace)).toBe(isJump)
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

  it('is between zero and the distance to the tip', () => {
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
