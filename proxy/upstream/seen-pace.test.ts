// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeenPace } from './seen-pace.ts'
import type { Sighting } from './tip.ts'

const spec = { allowedLagBlocks: 2, blockTimeMs: 12_000 }

type Told = readonly (readonly [block: number, atMs: number])[]

/** The time of a block, after each upstream of a pool has told its heads. */
function after(...pool: readonly Told[]): number {
  const pace = new SeenPace<object>(spec)
  const upstreams = pool.map((told) => ({ told }))
  const heads = upstreams.flatMap((upstream) =>
    upstream.told.map(([block, atMs]) => ({ upstream, block, atMs })),
  )
  for (const { upstream, ...head } of heads.toSorted((a, b) => a.atMs - b.atMs))
    pace.told(upstream, head, upstreams)
  return pace.value.blockTimeMs
}

const growing = (from: number, blockTimeMs: number): Told =>
  Array.from({ length: 100 }, (_, at) => [from + at, at * blockTimeMs])
const fast = (from: number) => growing(from, 1_000)
const steady = (from: number) => growing(from, 12_000)

test.each<[string, Told, number]>([
  ['nothing was seen', [], 12_000],
  [
    'a chain keeps to its spec',
    [
      [100, 0],
      [112, 144_000],
    ],
    12_000,
  ],
  [
    'it is faster',
    [
      [100, 0],
      [120, 20_000],
    ],
    1_000,
  ],
  [
    'too little was seen',
    [
      [100, 0],
      [111, 11_000],
    ],
    12_000,
  ],
  [
    'it was faster once',
    [
      [100, 0],
      [120, 20_000],
      [132, 164_000],
    ],
    12_000,
  ],
  [
    'it is slower',
    [
      [100, 0],
      [112, 600_000],
    ],
    12_000,
  ],
  [
    'it jumped',
    [
      [100, 0],
      [1_000_000, 100],
    ],
    12_000,
  ],
  [
    'it jumped and was seen to go on',
    [
      [100, 0],
      [1_000_000, 100],
      [1_000_001, 12_100],
    ],
    240,
  ],
  [
    'it went back and grows from there',
    [
      [100, 0],
      [50, 1_000],
      [70, 21_000],
    ],
    1_000,
  ],
])('the time of a block when %s', (_name, told, expected) => {
  expect(after(told)).toBe(expected)
})

test.each<[string, readonly Told[], number]>([
  ['one alone runs', [fast(100), steady(100)], 12_000],
  ['one runs, and another stands still', [fast(100), [[100, 0]]], 12_000],
  ['two run', [fast(100), fast(90), steady(100)], 1_000],
  ['one that lags is heard before the others', [steady(80), steady(100), steady(150)], 12_000],
])('the time of a block when %s of several', (_name, told, expected) => {
  expect(after(...told)).toBe(expected)
})

test('an upstream that stands still keeps the pace that it had', () => {
  expect(after(fast(100), [...fast(100), [200, 100_001]])).toBe(1_000)
})

test('is never above that of the spec, and never below the bound, whatever is told', () => {
  const sighting = fc.record<Sighting>({ block: fc.nat(10_000), atMs: fc.nat(1_000_000) })
  fc.assert(
    fc.property(fc.array(sighting), fc.integer({ min: 1, max: 4 }), (told, count) => {
      const pace = new SeenPace<object>(spec)
      const upstreams = Array.from({ length: count }, () => ({}))
      for (const [at, head] of told.toSorted((a, b) => a.atMs - b.atMs).entries()) {
        pace.told(upstreams[at % count]!, head, upstreams)
        const { blockTimeMs, leastBlockTimeMs } = pace.value
        expect(blockTimeMs).toBeLessThanOrEqual(spec.blockTimeMs)
        expect(blockTimeMs).toBeGreaterThanOrEqual(leastBlockTimeMs)
      }
    }),
  )
})
