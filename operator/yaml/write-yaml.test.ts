// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { texts } from './testing/texts.ts'
import { kubeYaml, kubeYamlLine } from './write-yaml.ts'

describe('a text that a reader of YAML 1.1 or 1.2 takes for something else stands in quotes', () => {
  test.each([
    ...['y', 'N', 'yes', 'No', 'ON', 'off', 'true', 'FALSE', 'null', '~', '', '=', '<<'],
    ...['.inf', '-.Inf', '.nan', '010', '08', '-_8', '0o10', '0x1F', '0b1', '1_000', '1:30'],
    ...['-1:30.5', '.5_0', '1e3', '+1', '2026-01-31', '2001-12-14 21:59:43.10 -5'],
    '2026-01-31T03:00:00Z',
  ])('%j', (text) => {
    expect(kubeYaml({ text })).toBe(`text: '${text}'\n`)
    expect(kubeYaml({ [text]: 1 })).toBe(`'${text}': 1\n`)
    expect(kubeYaml([text])).toBe(`- '${text}'\n`)
    expect(kubeYamlLine({ text })).toBe(`{text: '${text}'}`)
  })
})

test.each([
  'envelope',
  'offline',
  '100Mi',
  '10.0.0.0/8',
  '-c',
  '1.2.0-rc.1',
  '--save',
  '1e653025249dd24f',
  'a: b',
])('other texts are as they are: %s', (text) => {
  expect(kubeYaml({ text }).replaceAll("'", '')).toBe(`text: ${text}\n`)
})

test('numbers, truth and nothing are no texts', () => {
  expect(kubeYaml({ a: 1, b: 0.5, c: false, d: null, e: undefined, f: {}, g: [] })).toBe(
    'a: 1\nb: 0.5\nc: false\nd: null\nf: {}\ng: []\n',
  )
})

test('what YAML 1.1 cannot hold, or takes for the end of a line, is escaped', () => {
  expect(kubeYaml({ a: 'b\u007f\u0085\u2028\ufeff\r\n' })).toBe(
    String.raw`a: "b\u007f\u0085\u2028\ufeff\r\n"` + '\n',
  )
})

test('a text of several lines that begins with space is one line', () => {
  expect(kubeYaml({ a: '\n  \n' })).toBe('a: "\\n  \\n"\n')
})

test('a text of several lines is one line within braces', () => {
  expect(kubeYamlLine({ a: ':\n%b', '\n%': 1 })).toBe(String.raw`{a: ":\n%b", "\n%": 1}`)
})

test.each(['1.1', '1.2'] as const)('YAML %s reads whatever text as itself', (version) => {
  fc.assert(
    fc.property(texts, texts, (key, text) => {
      const value = { all: [text, { [key]: text }], last: { [key]: [[text]] } }
      expect(parse(kubeYaml(value), { version })).toEqual(value)
      expect(parse(kubeYamlLine(value), { version })).toEqual(value)
    }),
    { numRuns: 500 },
  )
})
