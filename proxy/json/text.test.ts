// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { spellingsOf } from './testing/escaped.ts'
import { isNamed } from './text.ts'

function named(spelled: string, name: string): boolean {
  const bytes = Buffer.from(`,${spelled}:`)
  return isNamed(bytes, 1, bytes.length - 1, JSON.stringify(name))
}

test('a member has its name however that is spelled', () => {
  fc.assert(fc.property(spellingsOf('result'), (spelled) => named(spelled, 'result')))
})

test('it has no other name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('id', 'result'), (other, name) => {
      fc.pre(other !== name)
      expect(named(JSON.stringify(other), name)).toBe(false)
    }),
  )
})

test.each([
  ['"res\\u0075lts"', false],
  ['"res\\u0075l"', false],
  ['"\\\\u0072esult"', false],
  ['"\\u0052esult"', false],
  ['"\\u0072\\u0065\\u0073\\u0075\\u006c\\u0074"', true],
])('%s', (spelled, is) => {
  expect(named(spelled, 'result')).toBe(is)
})
