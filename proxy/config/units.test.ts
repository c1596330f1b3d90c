// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseByteSize, parseDuration } from './units.ts'

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['5s', 5000],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['1.5h', 5_400_000],
    ['0', 0],
    ['0s', 0],
    ['2us', 0.002],
    ['1s1s', 2000],
    ['', null],
    ['5', null],
    ['s', null],
    ['-5s', null],
    ['+5s', null],
    ['5 s', null],
    ['5S', null],
    ['1d', null],
    ['1e3s', null],
    ['.5s', null],
    ['5s\n', null],
    ['9'.repeat(40) + 'h', null],
    ['9'.repeat(400) + 'h', null],
  ])('%j is %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test('returns null or a time for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseDuration(text)
        expect(ms === null || ms >= 0).toBe(true)
      }),
    )
  })
})

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
