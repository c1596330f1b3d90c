// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { variableName } from './config-text.ts'

const text = fc.string({ unit: 'binary' })

test('a variable name is readable and stable across operator versions', () => {
  expect(variableName(['eth-main', 'X-Api-Key'])).toMatch(/^KEY_ETH_MAIN_X_API_KEY_[0-9A-F]{16}$/)
})

test('a variable name is valid for any Secret and key', () => {
  fc.assert(
    fc.property(text, text, (secret, key) => {
      expect(variableName([secret, key])).toMatch(/^[A-Z][A-Z0-9_]{0,90}$/)
    }),
  )
})

test('two keys never share a variable name', () => {
  const word = fc.constantFrom('a', 'A', '-', 'a-', '', 'ab')
  const place = fc.tuple(word, word)
  fc.assert(
    fc.property(place, place, (a, b) => {
      expect(variableName(a) === variableName(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
    }),
  )
})
