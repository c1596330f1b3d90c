// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { layerEnvironment } from './env-file.ts'

const read = (texts: readonly string[], environment: Record<string, string> = {}) => {
  const files = texts.map((text, index) => ({ name: `${index}.env`, text }))
  const layered = layerEnvironment(environment, files)
  return {
    variables: { ...layered.environment },
    messages: layered.problems.map(({ message }) => message),
  }
}

test('the environment overrides the files, and a later file overrides an earlier one', () => {
  const files = ['A=1\nB=1\nC=1', '# note\nexport B=2\nC="2 # no note"\nD=\'a\nb\'\nE=5']
  expect(read(files, { C: '3' })).toEqual({
    variables: { A: '1', B: '2', C: '3', D: 'a\nb', E: '5' },
    messages: [],
  })
})

test('a byte order mark and CRLF are harmless', () => {
  expect(read(['\uFEFFA=1\r\nB=2\r\n']).variables).toEqual({ A: '1', B: '2' })
})

test.each([
  ['KEY=abc#def', 'abc#def'],
  ['KEY=#abc', '#abc'],
  ['KEY=abc #def', 'abc'],
  ['KEY= # nothing', ''],
  ['KEY=', ''],
  ['  export  KEY = a b  ', 'a b'],
  ['KEY=a=b==', 'a=b=='],
  ["KEY='a # b' # note", 'a # b'],
  ["KEY='a\\n$HOME'", 'a\\n$HOME'],
  ['KEY="a\\n\\"b\\" \\\\ \\x"', 'a\n"b" \\ \\x'],
  ['KEY=it\'s "so"', 'it\'s "so"'],
])('%j', (text, value) => {
  expect(read([text])).toEqual({ variables: { KEY: value }, messages: [] })
})

test('an invalid line is reported by number, without its text', () => {
  expect(
    read(["A='\n'\nsecret\n\nB='secret\n", 'C="secret" secret\n1=2\nD=4\nE=“secret”']),
  ).toEqual({
    variables: { A: '\n', D: '4' },
    messages: [
      'line 3 of 0.env is not NAME=value',
      'line 5 of 0.env has an unclosed quote, or text after a closing quote',
      'line 1 of 1.env has an unclosed quote, or text after a closing quote',
      'line 2 of 1.env is not NAME=value',
      `line 4 of 1.env has typographic quotes instead of plain ones (" or ')`,
    ],
  })
})

test('a value that Node read from the file and cut at "#" does not override the file', () => {
  expect(read(['KEY=abc#def\nOWN=file'], { KEY: 'abc', OWN: 'environment' }).variables).toEqual({
    KEY: 'abc#def',
    OWN: 'environment',
  })
})
