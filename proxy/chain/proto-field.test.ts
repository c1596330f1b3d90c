// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldAt } from './proto-field.ts'

function varint(value: number): number[] {
  const bytes: number[] = []
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left]
    bytes.push((left % 128) + 128)
  }
}
const number = (field: number, value: number) => [...varint(field * 8), ...varint(value)]
const bytes = (field: number, value: readonly number[]) => [
  ...varint(field * 8 + 2),
  ...varint(value.length),
  ...value,
]
const text = (field: number, value: string) => bytes(field, [...Buffer.from(value)])
const fixed = (field: number, width: 4 | 8) => [
  ...varint(field * 8 + (width === 8 ? 1 : 5)),
  ...Array.from({ length: width }, () => 7),
]

test('reads a height within a header within a block', () => {
  const header = [...text(2, 'hub-4'), ...number(3, 28_123_456), ...bytes(4, [1, 2])]
  const block = [...fixed(9, 8), ...bytes(1, header), ...fixed(8, 4)]
  const message = Uint8Array.from(bytes(2, block))
  expect(fieldAt(message, [2, 1, 3])).toBe(28_123_456)
  expect(fieldAt(message, [2, 1, 2])).toBe('hub-4')
})

const absent: [string, number[], number[]][] = [
  ['a missing field', number(1, 5), [2]],
  ['a path that continues below a number', number(1, 5), [1, 1]],
]
test.each(absent)('%s reads as absent', (_, message, path) => {
  expect(fieldAt(Uint8Array.from(message), path)).toBeUndefined()
})

const unclear: [string, number[], number[]][] = [
  ['a length beyond the end', [0x0a, 9, 1], [1]],
  ['a varint without an end', [0x08, 0x80], [1]],
  ['a number cut off', [0x09, 1, 2], [1]],
  ['a group, which some decoders skip', [0x0b, 0x0c, ...number(1, 5)], [1]],
  ['a repeated number, of which the last counts', [...number(1, 5), ...number(1, 6)], [1]],
  ['a repeated message, which is merged', [...bytes(2, number(1, 5)), ...bytes(2, [])], [2, 1]],
  ['the same beneath another', bytes(3, [...number(1, 5), ...number(1, 6)]), [3, 1]],
]
test.each(unclear)('%s reads as ambiguous', (_, message, path) => {
  expect(fieldAt(Uint8Array.from(message), path)).toBeNull()
})

test('a number reads as written, beside any other fields', () => {
  const height = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const other = fc.oneof(
    fc.tuple(fc.integer({ min: 4, max: 3_000 }), height).map(([f, v]) => number(f, v)),
    fc.tuple(fc.integer({ min: 4, max: 3_000 }), fc.string()).map(([f, v]) => text(f, v)),
    fc.constantFrom<4 | 8>(4, 8).map((width) => fixed(4, width)),
  )
  fc.assert(
    fc.property(fc.array(other), height, fc.array(other), (before, value, behind) => {
      const message = Uint8Array.from([...before.flat(), ...number(3, value), ...behind.flat()])
      expect(fieldAt(message, [3])).toBe(value)
    }),
  )
})

test('no bytes cause a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.array(fc.nat(20), { maxLength: 4 }), (message, path) => {
      fieldAt(message, path)
    }),
  )
})
