// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { z } from 'zod'
import { customResourceDefinition } from '../api/crd/definition.ts'
import { integer, list, object, oneOf, text, textMap } from '../api/field.ts'
import { admit } from './admission.ts'
import type { Json } from './read-documents.ts'

const about = 'A field.'

const schema = z.object({
  spec: object(about, {
    name: text(about, { max: 4, min: 2 }),
    count: integer(about, [1, 9]).default(3),
    mode: oneOf(about, ['fast', 'off']).optional(),
    tags: list(about, text(about, { max: 9 }), { max: 3, kind: 'set' }).optional(),
    ports: list(about, object(about, { port: integer(about, [1, 9]) }), {
      max: 9,
      kind: ['port'],
    }).optional(),
    labels: textMap(about, { max: 1, maxValueLength: 9 }).optional(),
  }),
})
const names = { kind: 'Thing', plural: 'things', singular: 'thing', shortName: 'th' }
const thing = {
  schema,
  definition: customResourceDefinition({
    names,
    schema,
    columns: [],
    selectableFields: [],
  }),
}

test('a missing or null field gets its default', () => {
  expect(admit(thing, { spec: { name: 'ab', mode: null } })).toEqual({
    object: { spec: { name: 'ab', count: 3 } },
  })
})

test.each<[string, Json, readonly string[]]>([
  ['a wrong type', 'ab', ['spec: must be an object, not text']],
  ['a missing field', {}, ['spec.name: is missing: must be text']],
  ['an unknown field', { name: 'ab', nmae: 'ab' }, ['unknown field "spec.nmae"']],
  [
    'an unknown field in an item',
    { name: 'ab', ports: [{ prot: 1 }] },
    ['unknown field "spec.ports[0].prot"'],
  ],
  ['a string that is too long', { name: 'abcde' }, ['spec.name: must be at most 4 characters']],
  ['a number that is too small', { name: 'ab', count: 0 }, ['spec.count: must be at least 1']],
  [
    'a value that YAML reads as a boolean',
    { name: 'ab', mode: false },
    [expect.stringMatching(/^spec\.mode: must be one of fast, off\. .*write a text in quotes$/)],
  ],
  [
    'too many keys',
    { name: 'ab', labels: { a: '', b: '' } },
    ['spec.labels: must have at most 1 key'],
  ],
  [
    'a duplicate item',
    { name: 'ab', tags: ['a', 'b', 'a'] },
    ['spec.tags[2]: must not occur twice in the list'],
  ],
  [
    'two items with the same key',
    { name: 'ab', ports: [{ port: 1 }, { port: 1 }] },
    ['spec.ports[1]: must not occur twice in the list, by port'],
  ],
])('%s is refused', (_name, spec, faults) => {
  expect(admit(thing, { spec })).toEqual({ faults })
})
