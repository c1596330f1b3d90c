// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Translation } from '../translate/translation.ts'
import { TranslationMemo } from './translation-memo.ts'

function translation(text: string, changes: Partial<Translation> = {}): Translation {
  const config = { data: { 'router.yml': text } } as unknown as Translation['config']
  const rest = { refusals: [], dangling: [], providers: [], endpoints: [] }
  return { config, ...rest, ...changes } as unknown as Translation
}

/** Which of the keys that are asked for one after the other are translated anew. */
function translated(
  memo: TranslationMemo,
  asked: readonly (readonly [key: string, basis: string])[],
  made: Translation,
): readonly number[] {
  const anew: number[] = []
  for (const [index, [key, basis]] of asked.entries()) {
    const given = memo.of(key, basis, () => {
      anew.push(index)
      return made
    })
    expect(given).toBe(made)
  }
  return anew
}

test('a translation is remembered for as long as what it is made from is the same', () => {
  const asked = [
    ['a', '1'],
    ['a', '1'],
    ['a', '2'],
    ['b', '2'],
  ] as const
  expect(translated(new TranslationMemo(), asked, translation('text'))).toEqual([0, 2, 3])
})

test('the oldest are forgotten when configs are too much together, and what was deleted', () => {
  const memo = new TranslationMemo(25)
  const asks = (keys: string) => [...keys].map((key) => [key, '1'] as const)
  const made = translation('ten bytes.')
  expect(translated(memo, asks('ababcbca'), made)).toEqual([0, 1, 4, 7])
  memo.forget('c')
  expect(translated(memo, asks('abc'), made)).toEqual([1, 2])
})

test('what is refused as a whole counts as much as is kept of it', () => {
  const memo = new TranslationMemo(400)
  const message = 'so much is said of what is wrong that three of them are too many '.repeat(2)
  const refusals = [{ reason: 'InvalidSpec', field: '', message } as const]
  const refused = translation('', { config: null, refusals })
  const asks = (keys: string) => [...keys].map((key) => [key, '1'] as const)
  expect(translated(memo, asks('abca'), refused)).toEqual([0, 1, 2, 3])
})
