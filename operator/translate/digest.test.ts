// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digest, digestEntries } from './object-names.ts'

test('a digest is short, lower case and stable across operator versions', () => {
  expect(digest(['a', 'b'])).toBe('facdde7abf1eac5b')
})

test('lists of strings with equal concatenations differ', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
      expect(digest(a) === digest(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
    }),
  )
  expect(digest(['ab', 'c'])).not.toBe(digest(['a', 'bc']))
  expect(digest(['', 'a'])).not.toBe(digest(['a', '']))
})

test('the order of a map does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (map) => {
      const entries = Object.entries(map)
      expect(digestEntries(entries.toReversed())).toBe(digestEntries(entries))
    }),
  )
  expect(digestEntries([['a', 'b']])).toBe('facdde7abf1eac5b')
  expect(digestEntries([['a', 'b']])).not.toBe(digestEntries([['b', 'a']]))
})
