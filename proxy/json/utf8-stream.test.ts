// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Utf8Stream } from './utf8-stream.ts'

function accepts(bytes: Buffer, cuts: readonly number[]): boolean {
  const stream = new Utf8Stream()
  const offsets = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
  const ends = [...offsets, bytes.length]
  return (
    ends.every((end, at) => stream.push(bytes.subarray(ends[at - 1] ?? 0, end))) && stream.isWhole
  )
}

const nearlyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
      fc.constantFrom([0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xff], [0xc0, 0xaf]),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))))

test('pieces are UTF-8 where the whole is, however it is cut', () => {
  fc.assert(
    fc.property(nearlyText, fc.array(fc.nat(), { maxLength: 8 }), (bytes, cuts) => {
      expect(accepts(bytes, cuts)).toBe(isUtf8(bytes))
    }),
    { numRuns: 3_000 },
  )
})
