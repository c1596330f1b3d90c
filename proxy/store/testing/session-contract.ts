// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect } from 'vitest'
import type { SharedStore } from '../shared-store.ts'

const [a, b, c] = ['a', 'b', 'c'].map((node) => Buffer.from(node)) as [Buffer, Buffer, Buffer]
const key = 'sticky:key'

/**
 * The contract of every session store, step by step.
 * @param open a store that opens as soon as it has a generation
 * @param closed a store that stays closed
 */
export async function expectSessionContract(open: SharedStore, closed: SharedStore): Promise<void> {
  const step = async (keys: SharedStore, ...args: Parameters<SharedStore['session']>) => {
    const { isOpen, value, ttlMs = 0 } = await keys.session(...args)
    return `${isOpen ? 'open' : 'refused'} ${value ? Buffer.from(value).toString() : '-'} ${Math.round(ttlMs / 10_000)}`
  }
  const { generation } = await open.session('sticky:', '')
  expect(generation).not.toBe('')
  await expect.poll(() => step(open, key, generation)).toBe('open - 0')
  expect(await step(open, key, generation, a, 50_000)).toBe('open - 0')
  expect(await step(open, key, generation, b, 90_000)).toBe('open a 5')
  expect(await step(open, key, generation)).toBe('open a 5')
  // A caller in another generation, or in none, reads and claims nothing.
  for (const other of ['another', '']) expect(await step(open, key, other)).toBe('refused - 0')
  expect(await step(open, 'sticky:new', 'another', a, 50_000)).toBe('refused - 0')
  expect(await step(open, 'sticky:new', generation)).toBe('open - 0')
  // A late restore succeeds if the session has no choice.
  expect(await step(open, key, '', b, 90_000)).toBe('open a 5')
  expect(await step(open, 'sticky:late', '', b, 90_000)).toBe('open - 0')
  expect(await step(open, 'sticky:late', generation)).toBe('open b 9')
  await open.delete(key, a)
  expect(await step(open, key, generation, b, 90_000)).toBe('open - 0')
  expect((await open.session('sticky:', '')).generation).toBe(generation)

  const { generation: second } = await closed.session('sticky:', '')
  expect(second).not.toBe(generation)
  expect(await step(closed, key, second, a, 50_000)).toBe('refused - 0')
  expect(await step(closed, key, second)).toBe('refused - 0')
  // Of two restored choices, the newer one wins.
  const restored = async (node: Buffer, ttlMs: number) =>
    (await step(closed, key, '', node, ttlMs)).replace(/^\w+ /, '')
  expect(await restored(a, 50_000)).toBe('- 0')
  expect(await restored(b, 40_000)).toBe('a 5')
  expect(await restored(c, 60_000)).toBe('- 0')
  expect(await restored(a, 50_000)).toBe('c 6')
  expect((await closed.session('sticky:', '')).generation).toBe(second)
}
