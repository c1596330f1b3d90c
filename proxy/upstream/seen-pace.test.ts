// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeenPace } from './seen-pace.ts'
import type { Sighting } from './tip.ts'

const spec = { allowedLagBlocks: 2, blockTimeMs: 12_000 }

function after(...told: readonly (readonly [block: number, atMs: number])[]): number {
  const pace = new SeenPace(spec)
  for (const [block, atMs] of told) pace.agreed({ block, atMs })
  return pace.value.blockTimeMs
}

test.each<[string, readonly (readonly [number, number])[], number]>([
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
    'it caught up at once',
    [
      [100, 0],
      [1_000_000, 100],
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
  expect(after(...told)).toBe(expected)
})

test('is never above that of the spec, and never below the bound, whatever is agreed on', () => {
  const sighting = fc.record<Sighting>({ block: fc.nat(10_000), atMs: fc.nat(1_000_000) })
  fc.assert(
    fc.property(fc.array(sighting), (told) => {
      const pace = new SeenPace(spec)
      for (const each of told.toSorted((a, b) => a.atMs - b.atMs)) {
        pace.agreed(each)
        const { blockTimeMs, leastBlockTimeMs } = pace.value
        expect(blockTimeMs).toBeLessThanOrEqual(spec.blockTimeMs)
        expect(blockTimeMs).toBeGreaterThanOrEqual(leastBlockTimeMs)
      }
    }),
  )
})
