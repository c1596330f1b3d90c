// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readDocuments } from '../../../operator/manifests/read-documents.ts'
import { parseSpecDocument } from '../../chain/document.ts'
import { parseConfig, sourcesOf } from '../parse.ts'

const bytes = 200_000
const filled = (piece: string) => piece.repeat(Math.ceil(bytes / piece.length))
const numbered = (piece: (index: number) => string) =>
  Array.from({ length: bytes / 8 }, (_, index) => piece(index)).join('')

const tooDeep = 'values nest more than 64 levels deep'
const tooManyKeys = 'a map has more than 1000 keys'
const tooManyEntries = 'a list has more than 10000 entries'

test.each([
  ['lists in lists', filled('['), tooDeep],
  ['closed lists in lists', `${'['.repeat(bytes)}${']'.repeat(bytes)}`, tooDeep],
  ['maps in maps', filled('{'), tooDeep],
  ['maps in lists in maps', filled('[{a: '), tooDeep],
  ['blocks in blocks', filled('- '), tooDeep],
  ['keys of keys', filled('a: '), tooDeep],
  ['keys as keys', filled('? '), tooDeep],
  ['levels by indentation', numbered((index) => `${' '.repeat(index % 500)}a:\n`), tooDeep],
  ['keys of one map', numbered((index) => `k${index}: 1\n`), tooManyKeys],
  ['keys of one map in braces', `{${numbered((index) => `k${index}: 1,`)}}`, tooManyKeys],
  ['a key without end', filled(':\n'), tooManyKeys],
  ['entries', filled('- 1\n'), tooManyEntries],
  ['entries in brackets', `[${filled('1,')}]`, tooManyEntries],
])('%s of 200 KB are refused by every reader of YAML', (_, text, message) => {
  for (const place of ['', 'endpoints: ']) {
    const { config, problems } = parseConfig(place + text, { environment: {}, flags: {} })
    expect(config).toBeNull()
    if (place === '') expect(problems).toMatchObject([{ message, hint: 'Is it the right file?' }])
    expect(sourcesOf(place + text, { environment: {}, flags: {} }).envFiles).toEqual([])
  }
  expect(parseSpecDocument('a.yml', text, [])).toMatchObject({
    message: expect.stringContaining(message),
  })
  expect(readDocuments(text)).toMatchObject([{ fault: message }])
})

test.each([
  ['lists', '['],
  ['maps', '{"a":'],
])('a spec in JSON whose %s nest without end is refused', (_, piece) => {
  const end = piece === '[' ? ']' : '}'
  const text = `{"id":${piece.repeat(100_000)}1${end.repeat(100_000)}}`
  const read = parseSpecDocument('a.json', text, [])
  expect(read).toMatchObject({ message: `a.json:1: is not JSON: ${tooDeep}` })
})

test('a text within the limits is parsed', () => {
  const deep = `${'['.repeat(50)}${']'.repeat(50)}`
  expect(readDocuments(`a: ${deep}`)).toMatchObject([{ value: { a: expect.any(Array) } }])
  expect(parseSpecDocument('a.json', deep, [])).toHaveProperty('value')
  const keys = Array.from({ length: 900 }, (_unused, index) => `k${index}: 1`).join('\n')
  expect(readDocuments(keys)).toMatchObject([{ value: { k0: 1, k899: 1 } }])
})

test('only the first mistakes of a long file are explained', () => {
  const text = `endpoints:\n${'- {a: 1, b: 2}\n'.repeat(2_000)}direct-rpc: [${'{a: 1},'.repeat(2_000)}]`
  const { problems } = parseConfig(text, { environment: {}, flags: {} })
  const explained = problems.filter(({ message }) => /unknown key|is missing/.test(message))
  expect(explained.length).toBeGreaterThan(0)
  expect(explained.length).toBeLessThan(400)
  expect(problems.length).toBeLessThan(5_000)
})
