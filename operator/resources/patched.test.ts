// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patched } from './patched.ts'

const named = (...names: readonly string[]) => names.map((name) => ({ name, a: 1 }))

test.each<[string, unknown, unknown, unknown]>([
  ['a field is added', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  ['a field is replaced', { a: 1 }, { a: [2] }, { a: [2] }],
  ['a field is removed', { a: 1, b: 2 }, { a: null }, { b: 2 }],
  ['nested fields are merged', { a: { b: 1, c: 2 } }, { a: { c: 3 } }, { a: { b: 1, c: 3 } }],
  ['null in a missing object is ignored', {}, { a: { b: null } }, { a: {} }],
  ['a list of scalars is replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ['a list without names is replaced', [{ a: 1 }], [{ b: 2 }], [{ b: 2 }]],
  ['an empty list does not change a list with names', named('x'), [], named('x')],
  [
    'an item is merged by its name',
    named('x', 'y'),
    [{ name: 'y', b: 2 }],
    [...named('x'), { name: 'y', a: 1, b: 2 }],
  ],
  ['an item is added at the end', named('x'), [{ name: 'y' }], [...named('x'), { name: 'y' }]],
  ['an item is removed', named('x', 'y'), [{ name: 'x', $patch: 'delete' }], named('y')],
  [
    'mounts are merged by path',
    [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/b' },
    ],
    [{ name: 'v', mountPath: '/b', readOnly: true }],
    [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/b', readOnly: true },
    ],
  ],
  ['__proto__ is ignored', {}, JSON.parse('{"__proto__":{"x":1}}'), {}],
])('%s', (_, target, patch, expected) => {
  expect(patched(target, patch)).toEqual(expected)
})

const json = fc.jsonValue({ maxDepth: 3 })

test('a patch is idempotent and changes neither argument', () => {
  fc.assert(
    fc.property(fc.object({ values: [json] }), fc.object({ values: [json] }), (target, patch) => {
      const before = structuredClone([target, patch])
      const once = patched(target, patch)
      expect([target, patch]).toEqual(before)
      expect(patched(once, patch)).toEqual(once)
    }),
  )
})
