// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

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

  test('reads back whatever formatDuration writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })

  test('takes any text and answers null or a time', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseDuration(text)
        expect(ms === null || ms >= 0).toBe(true)
      }),
    )
  })
})

test.each([
  [0, '0s'],
  [500, '500ms'],
  [90_000, '1m30s'],
  [3_600_000, '1h'],
  [1500, '1s500ms'],
  [0.5, '0.5ms'],
])('formatDuration(%s) is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
