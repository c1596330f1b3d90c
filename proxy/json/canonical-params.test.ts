// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { canonicalParams } from './canonical-params.ts'

test.each<[string, boolean, string, string]>([
  ['everywhere', true, '["0xAB",{"a":"0xCD"}]', '["0xab",{"a":"0xcd"}]'],
  ['nowhere', false, '[ "0xAB" ]', '["0xAB"]'],
])('hex digits have any case: %s', (_, hex, params, expected) => {
  expect(Buffer.from(canonicalParams(Buffer.from(params), hex)).toString()).toBe(expected)
})

test.each([
  ['one name twice', '[{"b":1,"b":2}, 3]'],
  ['names that differ by case alone', '[{"b":1,"B":2}, 3]'],
  ['a name with an escape', '[{"b":1,"\\u0061":2}, 3]'],
  ['a name with a letter beyond ASCII', '[{"b":1,"ſ":2}, 3]'],
])('an object whose members decoders match differently has no other form: %s', (_, params) => {
  expect(Buffer.from(canonicalParams(Buffer.from(params), true)).toString()).toBe(params)
})
