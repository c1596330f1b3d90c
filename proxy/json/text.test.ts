// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { spellingsOf } from './testing/escaped.ts'
import { isNamed, plainEnd } from './text.ts'

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

test('the plain part of a text ends at the first quote or escape, however long it is', () => {
  const parts = fc.array(fc.constantFrom('"', '\\', 'a'.repeat(300), 'b', 'c'.repeat(255)))
  fc.assert(
    fc.property(parts, fc.nat(300), (texts, start) => {
      const bytes = Buffer.from('x'.repeat(300) + texts.join(''))
      const ends = ['"', '\\'].map((each) => bytes.indexOf(each, start)).filter((at) => at >= 0)
      expect(plainEnd(bytes, start)).toBe(Math.min(...ends, bytes.length))
    }),
  )
})
