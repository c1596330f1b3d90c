// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatByteSize, parseByteSize } from './byte-size.ts'

test.each([
  ['10MiB', 10_485_760],
  ['10Mi', 10_485_760],
  ['10MB', 10_000_000],
  ['512KiB', 524_288],
  ['1.5GiB', 1_610_612_736],
  ['10485760', 10_485_760],
  ['64 KiB', 65_536],
  ['7B', 7],
  ['', null],
  ['MiB', null],
  ['-1', null],
  ['10mib', null],
  ['1e6', null],
  ['9'.repeat(20), null],
])('parseByteSize(%j) is %s', (text, bytes) => {
  expect(parseByteSize(text)).toBe(bytes)
})

test('formatByteSize writes what parseByteSize reads', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 40 }), (bytes) => {
      expect(parseByteSize(formatByteSize(bytes))).toBe(bytes)
    }),
  )
  expect(formatByteSize(10_485_760)).toBe('10MiB')
})
