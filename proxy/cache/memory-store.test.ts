// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import type { Entry } from './entry.ts'
import { hashOf } from './key.ts'
import { MemoryStore } from './memory-store.ts'

test.each([
  { kind: 'of the latest block', head: 7 },
  { kind: 'of a final block', head: -1 },
])('a key never has the answer $kind of another key with its hash', ({ head }) => {
  const [one, other] = ['Aa', 'BB'] as const
  expect(hashOf(one)).toBe(hashOf(other))
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  store.set(hashOf(one), entryOf(one, head))
  expect(store.get(one, hashOf(one))?.key).toBe(one)
  expect(store.get(other, hashOf(other))).toBeUndefined()
  store.set(hashOf(other), entryOf(other, head))
  expect(store.get(other, hashOf(other))?.key).toBe(other)
  expect(store.get(one, hashOf(one))?.key ?? one).toBe(one)
})

test('the answer about a final block is given, whatever was kept before it was final', () => {
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  for (const head of [6, 7, -1]) store.set(hashOf('key'), entryOf('key', head))
  expect(store.get('key', hashOf('key'))?.head).toBe(-1)
})

test('a long answer about the latest block is one for all who ask, until another one takes its place', () => {
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  const hash = hashOf('key')
  const set = (length: number) => store.set(hash, entryOf('key', 7, Buffer.alloc(length)))
  const got = () => store.get('key', hash)?.answer.body
  set(50_000)
  expect(got()).toHaveLength(50_000)
  expect(got()).toBe(got())
  set(10)
  expect(got()).toHaveLength(10)
  set(40_000)
  expect(got()).toHaveLength(40_000)
  expect(store.bytes).toBeGreaterThan(40_000)
})

function entryOf(key: string, head: number, body: Buffer | string = '{}'): Entry {
  const given = { status: 200, headers: [], trailers: [], body, id: null, upstream: 'a' }
  const answer = { ...given, refusal: null, latestBlock: 7 }
  return { key, answer, ageClass: 'latest', expiresMs: Infinity, head, branch: 0 }
}
