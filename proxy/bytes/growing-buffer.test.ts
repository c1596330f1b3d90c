// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteBudget } from './byte-budget.ts'
import { GrowingBuffer } from './growing-buffer.ts'

const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 50 })

test('returns the bytes it got, uses at most twice their memory, and counts until taken', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const budget = new ByteBudget(1e9)
      const buffer = new GrowingBuffer(budget)
      const seen: [Uint8Array, Buffer][] = []
      for (const part of parts) {
        buffer.push(part)
        seen.push([buffer.bytes, Buffer.from(buffer.bytes)])
        expect(budget.heldBytes).toBeGreaterThanOrEqual(buffer.length)
        expect(budget.heldBytes).toBeLessThanOrEqual(2 * buffer.length)
      }
      for (const [bytes, copy] of seen) expect(copy.equals(bytes)).toBe(true)
      expect(Buffer.concat(parts).equals(buffer.take())).toBe(true)
      expect([budget.heldBytes, buffer.length, buffer.take().length]).toEqual([0, 0, 0])
      buffer.push(Buffer.from('again'))
      buffer.release()
      expect([budget.heldBytes, Buffer.from(buffer.bytes).toString()]).toEqual([0, 'again'])
    }),
  )
})

test.each([
  { pieces: [10, 10], expected: 100, heldBytes: 100 },
  { pieces: [10, 90], expected: 100, heldBytes: 100 },
  { pieces: [1, 1], expected: 100, heldBytes: 4 },
  { pieces: [10, 91], expected: 100, heldBytes: 202 },
  { pieces: [10, 10], expected: null, heldBytes: 40 },
])('$pieces of $expected take $heldBytes', ({ pieces: lengths, expected, heldBytes }) => {
  const budget = new ByteBudget(1e9)
  const buffer = new GrowingBuffer(budget)
  for (const length of lengths)
    buffer.push(Buffer.alloc(length), { announcedBytes: () => expected })
  expect(budget.heldBytes).toBe(heldBytes)
})

test('a single piece is not copied, and a million tiny ones are copied once on average', () => {
  const budget = new ByteBudget(1e9)
  const buffer = new GrowingBuffer(budget)
  const piece = Buffer.from('x')
  buffer.push(piece)
  expect(buffer.bytes).toBe(piece)
  let allocations = 0
  let last = buffer.bytes.buffer
  for (let count = 0; count < 1_000_000; count++) {
    buffer.push(piece)
    const now = buffer.bytes.buffer
    if (now !== last) allocations += 1
    last = now
  }
  expect(allocations).toBeLessThan(30)
})
