// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { pageWordsOf } from './failure-words.ts'

const key = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6'
const mask = (text: string) => text.replaceAll(key, '*'.repeat(key.length))
const words = (page: string) => pageWordsOf(Buffer.from(page), mask)

test.each([
  ['wherever the page is cut', (pad: number) => `${' '.repeat(pad)}<p>/v2/${key} is unknown`],
  ['wherever the quote is cut', (pad: number) => `${'x '.repeat(pad % 90)}/v2/${key}`],
  [
    'inside a word with tags',
    (pad: number) => `${key.slice(0, pad % 30)}<wbr>${key.slice(pad % 30)}`,
  ],
])('a page shows no part of a key: %s', (_, page) => {
  for (let pad = 0; pad < 4_200; pad += 7)
    for (let at = 0; at + 8 <= key.length; at++)
      expect(words(page(pad)).includes(key.slice(at, at + 8))).toBe(false)
})

test('the text of a page is quoted without its tags and title', () => {
  const page = '<html><title>503</title><body><h1>503 Busy</h1><hr>try <b>la</b>ter</body></html>'
  expect(words(page)).toBe('503 Busy try later')
  expect(words('x'.repeat(70_000))).toBe('')
})
