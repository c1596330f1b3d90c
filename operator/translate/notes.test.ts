// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readScenario } from '../testing/scenario.ts'
import { notesOfProvider } from './router-refusals.ts'

function notesOf(url: string): readonly string[] {
  const text = JSON.stringify({ providers: { alpha: { nodeUrls: [{ url }] } } })
  return readScenario(text).providers.flatMap(notesOfProvider)
}

test.each([['https://me:hunter2@a.example'], ['https://a.example/?x=1&apiKey=abc']])(
  'a literal secret is reported without being repeated: %s',
  (url) => {
    const [note = ''] = notesOf(url)
    expect(note).toMatch(/^spec\.nodeUrls\[0\]\.url: a password or key is written into the URL/)
    expect(note).not.toMatch(/hunter2|abc/)
  },
)

test.each([
  ['https://a.example/v2'],
  ['https://me:${PASSWORD}@a.example'],
  ['https://a.example/?apiKey=${KEY}'],
  ['https://a.example:8545/a@b'],
])('%s has no note', (url) => {
  expect(notesOf(url)).toEqual([])
})
