// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../api/crd/definition.ts'
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { rulesKeyword } from '../api/field.ts'
import { Admission } from './admission.ts'
import type { Json } from './fault.ts'

/** One field of each kind that our definitions have. The sentences are those of an API server. */
const spec: StructuralSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-zä]+$' },
    count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    size: { 'x-kubernetes-int-or-string': true },
    mode: { type: 'string', enum: ['fast', 'slow'] },
    tags: {
      type: 'array',
      maxItems: 3,
      'x-kubernetes-list-type': 'set',
      items: { type: 'string' },
    },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
      items: { type: 'object', properties: { port: { type: 'integer' }, to: { type: 'string' } } },
    },
    labels: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    range: { type: 'string' },
    memory: { type: 'object', properties: { least: { type: 'string' }, most: { type: 'string' } } },
  },
  [rulesKeyword]: [
    { rule: "self.count < 9 || self.name == 'all'", message: 'count must be below 9' },
    { rule: '!has(self.range) || isCIDR(self.range)', message: 'range must be a CIDR' },
    {
      rule: '!has(self.memory) || quantity(self.memory.least).compareTo(quantity(self.memory.most)) <= 0',
      message: 'least must be at most most',
      fieldPath: '.memory.least',
    },
  ],
}
const definition = {
  spec: {
    versions: [
      {
        schema: {
          openAPIV3Schema: { type: 'object', properties: { metadata: { type: 'object' }, spec } },
        },
        subresources: { scale: { specReplicasPath: '.spec.count' } },
      },
    ],
  },
} as unknown as CustomResourceDefinition

const faultsOf = (given: Json) => new Admission(definition).admit({ spec: given }).faults

test('what is not said gets its default, and what is null is not said', () => {
  const { object, faults } = new Admission(definition).admit({ spec: { name: 'ab', mode: null } })
  expect([object, faults]).toEqual([{ spec: { name: 'ab', count: 3 } }, []])
})

test.each<[string, Json, readonly string[]]>([
  ['all is well', { name: 'all', count: 9, range: 'fd00::/8', labels: { a: 'b' } }, []],
  ['it is of another type', 'ab', ['spec: spec in body must be of type object: "string"']],
  ['a field is missing', {}, ['spec.name: Required value']],
  ['a field is unknown', { name: 'ab', nmae: 'ab' }, ['unknown field "spec.nmae"']],
  [
    'an unknown field is in an item',
    { name: 'ab', ports: [{ prot: 1 }] },
    ['unknown field "spec.ports[0].prot"'],
  ],
  [
    'a text is too short',
    { name: 'a' },
    ['spec.name: spec.name in body should be at least 2 chars long'],
  ],
  ['a text is too long', { name: 'abcde' }, ['spec.name: Too long: may not be more than 4 bytes']],
  ['letters count, not bytes', { name: 'ääää' }, []],
  [
    'a text is in another form',
    { name: 'A1' },
    ["spec.name: spec.name in body should match '^[a-zä]+$'"],
  ],
  [
    'a number is too small',
    { name: 'ab', count: 0 },
    ['spec.count: spec.count in body should be greater than or equal to 1'],
  ],
  [
    'a number is not whole',
    { name: 'ab', count: 1.5 },
    ['spec.count: spec.count in body must be of type integer: "number"'],
  ],
  [
    'what the object is scaled by is below zero',
    { name: 'ab', count: -1 },
    [
      'spec.count: spec.count in body should be greater than or equal to 1',
      '.spec.count: should be a non-negative integer',
    ],
  ],
  [
    'it is neither of two types',
    { name: 'ab', size: true },
    [
      'spec.size: spec.size in body must be of type integer,string: "boolean"',
      'spec.size: spec.size in body must validate at least one schema (anyOf)',
    ],
  ],
  [
    'a word is not known',
    { name: 'ab', mode: 'quick' },
    ['spec.mode: Unsupported value: "quick": supported values: "fast", "slow"'],
  ],
  [
    'there are too many items',
    { name: 'ab', tags: ['a', 'b', 'c', 'd'] },
    ['spec.tags: Too many: 4: must have at most 3 items'],
  ],
  [
    'there are too many names',
    { name: 'ab', labels: { a: '', b: '' } },
    ['spec.labels: Too many: 2: must have at most 1 items'],
  ],
  [
    'an item is there three times',
    { name: 'ab', tags: ['a', 'a', 'a'] },
    ['spec.tags[1]: Duplicate value'],
  ],
  [
    'two items have one key',
    { name: 'ab', ports: [{ port: 1, to: 'a' }, { port: 2 }, { port: 1, to: 'b' }] },
    ['spec.ports[2]: Duplicate value'],
  ],
  ['a rule does not hold', { name: 'ab', count: 9 }, ['spec: count must be below 9']],
  ['a range is none', { name: 'ab', range: '10.0.0.0/33' }, ['spec: range must be a CIDR']],
  [
    'of a network only its address',
    { name: 'ab', range: '10.0.0.0' },
    ['spec: range must be a CIDR'],
  ],
  [
    'a rule names the field',
    { name: 'ab', memory: { least: '1Gi', most: '900Mi' } },
    ['spec.memory.least: least must be at most most'],
  ],
  [
    'quantities are compared by what they mean',
    { name: 'ab', memory: { least: '1Ki', most: '1025' } },
    [],
  ],
  [
    'rules are not asked about what has another form',
    { name: 'abcde', count: 9 },
    ['spec.name: Too long: may not be more than 4 bytes'],
  ],
])('%s', (_name, given, faults) => {
  expect(faultsOf(given)).toEqual(faults)
})

test('a rule that cannot be judged says so', () => {
  expect(faultsOf({ name: 'ab', memory: { least: 'much', most: '1' } })).toEqual([
    expect.stringMatching(
      /^spec: .*no quantity: much.* evaluating rule: least must be at most most$/,
    ),
  ])
})
