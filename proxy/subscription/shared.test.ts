// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { CallAborted } from '../relay/errors.ts'
import { Shared } from './shared.ts'

function fixture() {
  const shared = new Shared<string>()
  const works: { readonly signal: AbortSignal; end(error?: Error): void }[] = []
  const work = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      const name = `work ${works.length + 1}`
      works.push({
        signal,
        end: (error) => {
          if (error) reject(error)
          else resolve(name)
        },
      })
    })
  const wanters = Array.from({ length: 3 }, () => new AbortController())
  const take = (key: string) => wanters.map(({ signal }) => shared.take(key, signal, work))
  return { works, wanters, take }
}

test('all who want the same at the same time get it from one piece of work', async () => {
  const { works, take } = fixture()
  const taken = [...take('a'), ...take('b')]
  expect(works).toHaveLength(2)
  for (const each of works) each.end()
  expect(await Promise.all(taken)).toEqual([...'111222'].map((at) => `work ${at}`))
  const later = take('a')
  works.at(-1)?.end()
  expect(await Promise.all(later)).toEqual(['work 3', 'work 3', 'work 3'])
})

test('what fails fails for all, and is begun anew by who asks then', async () => {
  const { works, take } = fixture()
  const taken = take('a')
  works[0]?.end(new Error('no'))
  for (const each of taken) await expect(each).rejects.toThrow('no')
  void Promise.allSettled(take('a'))
  expect(works).toHaveLength(2)
})

test('it goes on as long as anybody wants it, and ends with the last one', async () => {
  const { works, wanters, take } = fixture()
  const [first, second, third] = take('a')
  wanters[0]?.abort()
  await expect(first).rejects.toThrow(CallAborted)
  expect(works[0]?.signal.aborted).toBe(false)
  const others = Promise.allSettled([second, third])
  wanters[1]?.abort()
  wanters[2]?.abort()
  await others
  expect(works[0]?.signal.aborted).toBe(true)
})
