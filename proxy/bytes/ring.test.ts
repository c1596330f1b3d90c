// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ring } from './ring.ts'

const set = fc.record({
  key: fc.integer({ min: 0, max: 12 }),
  length: fc.oneof(fc.nat(300), fc.nat(4_000)),
  value: fc.nat(3),
})
const action = fc.oneof({ weight: 9, arbitrary: set }, fc.record({ forgotten: fc.nat(12) }))
/** Two keys share each hash. */
const keyOf = (key: number) => ({ bytes: Buffer.alloc(200, 'k'), end: 1 + key * 9, hash: key >> 1 })

test('a key returns its last value or nothing, and the ring stays within its bytes', () => {
  const capacity = 32 * 1024
  let found = 0
  const property = (
    actions: readonly (typeof action extends fc.Arbitrary<infer A> ? A : never)[],
  ) => {
    const ring = new Ring<{ value: number }>(capacity)
    const last = new Map<number, unknown>()
    const order: number[] = []
    for (const [at, each] of actions.entries()) {
      if ('forgotten' in each) {
        ring.delete(keyOf(each.forgotten).hash)
        last.delete(each.forgotten)
        order.splice(0)
      } else {
        const body = Buffer.alloc(each.length, at)
        const kept = { body, value: { value: each.value }, numbers: [at, -1, 0.5] as const }
        const { value, numbers } = kept
        expect(ring.set(keyOf(each.key), body, value, ...numbers)).toBe(true)
        last.set(each.key, kept)
        order.push(each.key)
      }
      expect(ring.bytes).toBeLessThanOrEqual(capacity)
      for (let key = 0; key <= 12; key++) {
        const got = ring.get(keyOf(key))
        if (got === undefined) continue
        found += 1
        expect(got).toEqual(last.get(key))
      }
      // The latest entries always fit.
      for (const key of order.slice(-3)) expect(ring.get(keyOf(key))).toEqual(last.get(key))
    }
  }
  fc.assert(fc.property(fc.array(action, { maxLength: 120 }), property), { numRuns: 200 })
  expect(found).toBeGreaterThan(1_000)
})

test('an entry of a large share of the ring is not stored', () => {
  const ring = new Ring<object>(4_096)
  expect(ring.set(keyOf(1), Buffer.alloc(4_000), {}, 0, 0, 0)).toBe(false)
  expect(new Ring(10).set(keyOf(1), Buffer.alloc(1), {}, 0, 0, 0)).toBe(false)
  expect(new Ring(10).get(keyOf(1))).toBeUndefined()
})
