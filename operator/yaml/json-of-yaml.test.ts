// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { jsonOfYaml, parsedAsTexts } from './json-of-yaml.ts'
import { texts } from './testing/texts.ts'
import { kubeYaml } from './write-yaml.ts'

/* What kubectl makes of each was asked of kubectl: a suite on a real API asks it again. */

const read = (text: string) => jsonOfYaml(parseDocument(text, parsedAsTexts).contents)

describe('a value without quotes', () => {
  test.each([
    ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map(
      (word) => [word, true] as const,
    ),
    ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map(
      (word) => [word, false] as const,
    ),
    ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
    ...['yEs', 'oFF', 'nULL', '=', '<<', 'Inf', 'NaN', '_1'].map((word) => [word, word] as const),
    ['010', 8],
    ['-010', -8],
    ['08', 8],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b11', 3],
    ['1_000', 1000],
    ['0_10', 8],
    ['+7', 7],
    ['1e3', 1000],
    ['1.50', 1.5],
    ['.5', 0.5],
    ['.5_0', 0.5],
    ['.5_', '.5_'],
    ['1e999', '1e999'],
    ['18446744073709551616', 18446744073709551616],
    ['1:30', '1:30'],
    ['2026-01-31', '2026-01-31'],
    ['2026-01-31T03:00:00Z', '2026-01-31T03:00:00Z'],
  ] as const)('%s', (text, value) => {
    expect(read(`a: ${text}`)).toEqual({ a: value })
  })
})

test.each(["'off'", '"off"', '|-\n  off', '!!str off', '!ours off'])('%s is a text', (text) => {
  expect(read(`a: ${text}`)).toEqual({ a: 'off' })
})

test.each([
  ['!!int "5"', 5],
  ['!!float 5', 5],
  ['!!bool yes', true],
  ['!!null ~', null],
  ['!!timestamp 2026-01-31', '2026-01-31'],
])('a tag decides: %s', (text, value) => {
  expect(read(`a: ${text}`)).toEqual({ a: value })
})

describe('a key is a text', () => {
  test.each([
    ['on', 'true'],
    ['No', 'false'],
    ['010', '8'],
    ['1.10', '1.1'],
    ['100000.0', '100000'],
    ['1234567.5', '1.2345675e+06'],
    ['1e-5', '1e-05'],
    ['-.inf', '-.inf'],
    ['.NAN', '.nan'],
    ["'on'", 'on'],
    ['__proto__', '__proto__'],
  ])('%s', (key, name) => {
    expect(Object.entries(read(`${key}: b`) as object)).toEqual([[name, 'b']])
  })

  test('also by an alias', () => {
    expect(read('&k on: 1\na: { *k : 2 }')).toEqual({ true: 1, a: { true: 2 } })
  })
})

test.each([
  ['over what stands before it', 'b: { k: 1, <<: *x }', { k: 'x' }],
  ['under what stands behind it', 'b: { <<: *x, k: 1 }', { k: 1 }],
  ['the first of a list counts', 'b: { <<: [*x, { k: 2, l: 3 }] }', { k: 'x', l: 3 }],
  ['a text in quotes is no merge', "b: { '<<': *x }", { '<<': { k: 'x' } }],
])('a merge: %s', (_, text, value) => {
  expect(read(`a: &x { k: x }\n${text}`)).toEqual({ a: { k: 'x' }, b: value })
})

test.each([
  ['~: 1', 'a key is null: put it in quotes'],
  ['[a]: 1', 'a key is a list or a map, and must be a text'],
  ['18446744073709551615: 1', 'a key is too large a number: put it in quotes'],
  ['on: 1\ntrue: 2', 'Map keys must be unique'],
  ['a: .inf', 'a number must be finite: put a text in quotes'],
  ['a: !!int x', 'a value is not what its tag !!int says'],
  ['a: !!binary eA==', 'the tag !!binary is not taken: use quotes'],
  ['<<: 1', 'a merge (<<) takes a map, or a list of maps'],
])('%j is no JSON', (text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('whatever we write is read as what it is', () => {
  fc.assert(
    fc.property(texts, texts, (key, text) => {
      const value = { all: [text, { [key]: text }], last: { [key]: [[text]] } }
      expect(read(kubeYaml(value))).toEqual(value)
    }),
    { numRuns: 500 },
  )
})
