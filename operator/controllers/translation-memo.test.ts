// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { ProviderVerdict, Translation } from '../translate/translation.ts'
import { TranslationMemo } from './translation-memo.ts'

const refusal = { reason: 'InvalidSpec', field: '', message: 'no' } as const
const unmet = { reason: 'SecretNotFound', field: '', message: 'gone' } as const

function translation(text: string, changes: Partial<Translation> = {}): Translation {
  const config = { data: { 'router.yml': text } } as unknown as Translation['config']
  const good = { startable: true, refusals: [], dangling: [], providers: [verdict({})] }
  return { config, endpoints: [], ...good, ...changes } as unknown as Translation
}

function verdict(changes: Partial<ProviderVerdict>): ProviderVerdict {
  const good = { provider: 'a', fate: 'used', refusals: [], dangling: [] }
  return { ...good, ...changes } as unknown as ProviderVerdict
}

/** Which of the keys that are asked for one after the other are translated anew. */
async function translated(
  memo: TranslationMemo,
  asked: readonly (readonly [key: string, objects: string, running: string])[],
  made: Translation,
): Promise<readonly number[]> {
  const anew: number[] = []
  for (const [index, [key, objects, running]] of asked.entries()) {
    const given = await memo.of(key, false, { objects, running }, () => {
      anew.push(index)
      return Promise.resolve(made)
    })
    expect(given).toBe(made)
  }
  return anew
}

describe('a translation is remembered', () => {
  const asked = [
    ['a', '1', 'nothing'],
    ['a', '1', 'nothing'],
    ['a', '1', 'what came of it'],
    ['a', '2', 'what came of it'],
    ['b', '2', 'what came of it'],
  ] as const

  test('for as long as the objects are the same, whatever ran before', async () => {
    const good = translation('text')
    expect(await translated(new TranslationMemo(), asked, good)).toEqual([0, 3, 4])
  })

  test.each<[string, Partial<Translation>]>([
    ['the router is refused in part', { refusals: [refusal] }],
    ['the router waits for a reference', { dangling: [unmet] }],
    ['new pods could not start', { startable: false }],
    ['a provider is refused', { providers: [verdict({ refusals: [refusal] })] }],
    ['a provider waits for a reference', { providers: [verdict({ dangling: [unmet] })] }],
    ['a provider is kept as it ran', { providers: [verdict({}), verdict({ fate: 'kept' })] }],
    ['a provider is left out', { providers: [verdict({ fate: 'left-out' })] }],
  ])('but not when pods run something else and %s', async (_, changes) => {
    const made = translation('text', changes)
    expect(await translated(new TranslationMemo(), asked, made)).toEqual([0, 2, 3, 4])
  })
})

test('the oldest are forgotten when configs are too much together, and what was deleted', async () => {
  const memo = new TranslationMemo(25)
  const asks = (keys: string) => [...keys].map((key) => [key, '1', ''] as const)
  const made = translation('ten bytes.')
  expect(await translated(memo, asks('ababcbca'), made)).toEqual([0, 1, 4, 7])
  memo.forget('c')
  expect(await translated(memo, asks('abc'), made)).toEqual([1, 2])
})

test('both forms of a router are remembered, until what they are made from changes', async () => {
  const memo = new TranslationMemo()
  const forms = new Map([
    [false, translation('text', { startable: false })],
    [true, translation('other')],
  ])
  let made = 0
  const pass = async (objects: string, running: string) => {
    for (const [newPods, form] of forms) {
      const translate = () => {
        made += 1
        return Promise.resolve(form)
      }
      expect(await memo.of('a', newPods, { objects, running }, translate)).toBe(form)
    }
  }
  for (const _ of 'twice') await pass('1', 'first')
  expect(made).toBe(2)
  await pass('2', 'first')
  expect(made).toBe(4)
  await pass('2', 'second')
  expect(made).toBe(6)
})

test('what is refused as a whole counts as much as is kept of it', async () => {
  const memo = new TranslationMemo(400)
  const message = 'so much is said of what is wrong that three of them are too many '.repeat(2)
  const refused = translation('', { config: null, refusals: [{ ...refusal, message }] })
  const asks = (keys: string) => [...keys].map((key) => [key, '1', ''] as const)
  expect(await translated(memo, asks('abca'), refused)).toEqual([0, 1, 2, 3])
})
