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

test('what is not said gets its default, and what is null is not said', () => {
  expect(admit(thing, { spec: { name: 'ab', mode: null } })).toEqual({
    object: { spec: { name: 'ab', count: 3 } },
  })
})

test.each<[string, Json, readonly string[]]>([
  ['it is of another type', 'ab', ['spec: Invalid input: expected object, received string']],
  ['a field is missing', {}, ['spec.name: Invalid input: expected string, received undefined']],
  ['a field is unknown', { name: 'ab', nmae: 'ab' }, ['unknown field "spec.nmae"']],
  [
    'an unknown field is in an item',
    { name: 'ab', ports: [{ prot: 1 }] },
    ['unknown field "spec.ports[0].prot"'],
  ],
  ['a text is too long', { name: 'abcde' }, ['spec.name: must be at most 4 characters']],
  [
    'a number is too small',
    { name: 'ab', count: 0 },
    ['spec.count: Too small: expected number to be >=1'],
  ],
  [
    'a word is one that YAML takes for a truth',
    { name: 'ab', mode: false },
    [expect.stringMatching(/^spec\.mode: Invalid option: .*write a text in quotes$/)],
  ],
  [
    'there are too many names',
    { name: 'ab', labels: { a: '', b: '' } },
    ['spec.labels: must have at most 1 keys'],
  ],
  [
    'an item is there twice',
    { name: 'ab', tags: ['a', 'b', 'a'] },
    ['spec.tags[2]: must not occur twice in the list'],
  ],
  [
    'two items have one key',
    { name: 'ab', ports: [{ port: 1 }, { port: 1 }] },
    ['spec.ports[1]: must not occur twice in the list, by port'],
  ],
])('%s', (_name, spec, faults) => {
  expect(admit(thing, { spec })).toEqual({ faults })
})
