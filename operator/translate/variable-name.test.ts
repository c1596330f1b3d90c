// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { variableName } from './config-text.ts'

test('is readable, and stable over versions of the operator', () => {
  expect(variableName(['eth-main', 'node-urls', '0', 'header', 'X-Api-Key'])).toMatch(
    /^KEY_ETH_MAIN_X_API_KEY_[0-9A-F]{16}$/,
  )
})

test('is a name that a shell and Kubernetes take, whatever the field is called', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (place) => {
      expect(variableName(place)).toMatch(/^[A-Z][A-Z0-9_]{0,90}$/)
    }),
  )
})

test('two places never share one, even if they read alike', () => {
  const place = fc.array(fc.constantFrom('a', 'A', '-', 'a-', '', 'ab'), { maxLength: 4 })
  fc.assert(
    fc.property(place, place, (a, b) => {
      expect(variableName(a) === variableName(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
    }),
  )
})
