// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { readDocuments } from './read-documents.ts'

/** Returns the values of a text; an invalid document becomes a string. */
const read = (text: string) =>
  readDocuments(text).map((each) => ('value' in each ? each.value : `${each.place}: ${each.fault}`))

/** Each level refers to the previous one nine times. */
const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  .concat(Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`))
  .join('\n')

test.each([
  [
    'booleans and numbers of YAML 1.1',
    'a: off\nb: yes\nc: "off"\nd: 010',
    [{ a: false, b: true, c: 'off', d: 8 }],
  ],
  ['strings to kubectl', 'a: 1:30\nb: 2026-01-31', [{ a: '1:30', b: '2026-01-31' }]],
  ['a boolean key', 'on: 1', [{ true: 1 }]],
  [
    'anchors, aliases and merges',
    'a: &x { b: 1 }\nc: *x\nd: { <<: *x, e: 2 }',
    [{ a: { b: 1 }, c: { b: 1 }, d: { b: 1, e: 2 } }],
  ],
  ['JSON', '{"a": "}{"}', [{ a: '}{' }]],
  ['documents', 'a: 1\n---\nb: 2', [{ a: 1 }, { b: 2 }]],
  ['nothing', '', []],
])('reads %s', (_, text, values) => {
  expect(read(text)).toEqual(values)
})

describe('a fault is reported with its position, without text that may be secret', () => {
  test.each([
    ['an unresolved alias', 'a: 1\n---\nkind: *s3cret', /^document 2, line 3: Unresolved alias/],
    ['nested aliases', bomb, /Excessive alias count/],
    ['an unknown tag', 'a: !s3!cret b', /^document 1, line 1: /],
    ['a duplicate key', 'a: 1\na: 2', /line 2: Map keys must be unique$/],
    ['text after an object', '{a: 1}\n"s3cret"', /^document 1, line 2: Unexpected/],
    ['a bad block header', 'a: |s3cret', /Block scalar header/],
    ['an unclosed list', 'a: [', /^document 1, line 1: /],
  ])('%s', (_, text, fault) => {
    const found = read(text).find((each) => typeof each === 'string')
    expect(found).toMatch(fault)
    expect(found).not.toContain('s3')
  })
})
