// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeptBytes, type Keeper } from './kept-bytes.ts'

class Shelf implements Keeper {
  readonly kept: number[] = []

  get keptBytes(): number {
    return this.kept.reduce((sum, bytes) => sum + bytes, 0)
  }

  forgetOldest(): void {
    this.kept.shift()
  }
}

test('who keeps the most lets go first, and the small keep all they have', () => {
  const bound = new KeptBytes(100)
  const [large, small] = [new Shelf(), new Shelf()]
  for (const shelf of [large, small]) bound.join(shelf)
  for (let each = 0; each < 20; each++) {
    large.kept.push(30)
    small.kept.push(1)
    bound.grown()
  }
  expect(small.kept).toHaveLength(20)
  expect(large.kept).toEqual([30, 30])
})

test('who has left counts no more', () => {
  const bound = new KeptBytes(100)
  const [one, two] = [new Shelf(), new Shelf()]
  for (const shelf of [one, two]) bound.join(shelf)
  one.kept.push(100)
  bound.leave(one)
  two.kept.push(100)
  bound.grown()
  expect(two.kept).toEqual([100])
})

test('all together never keep more than the bound', () => {
  const kept = fc.record({ who: fc.nat(4), bytes: fc.nat(150) })
  fc.assert(
    fc.property(fc.array(kept), (steps) => {
      const bound = new KeptBytes(100)
      const shelves = Array.from({ length: 5 }, () => new Shelf())
      for (const shelf of shelves) bound.join(shelf)
      for (const { who, bytes } of steps) {
        shelves[who]?.kept.push(bytes)
        bound.grown()
        expect(shelves.reduce((sum, { keptBytes }) => sum + keptBytes, 0)).toBeLessThanOrEqual(100)
      }
    }),
  )
})
