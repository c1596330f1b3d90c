// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import type { Entry } from './entry.ts'
import { type Key, callKey } from '../relay/call-key.ts'
import { MemoryStore } from './memory-store.ts'

test.each([
  { kind: 'of the latest block', head: 7 },
  { kind: 'of a final block', head: -1 },
])('a key never gets the answer $kind of another key with the same hash', ({ head }) => {
  const [one, other] = [keyNamed('Aa'), keyNamed('BB')]
  expect(one.hash).toBe(other.hash)
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  const got = (key: Key) => store.get(key)?.answer.upstream
  store.set(one, entryOf('of one', head))
  expect([got(one), got(other)]).toEqual(['of one', undefined])
  store.set(other, entryOf('of the other', head))
  expect(got(other)).toBe('of the other')
  expect(got(one) ?? 'of one').toBe('of one')
})

test.each([7, -1])(
  'a key never gets the answer of another method with the same hash, at head %d',
  (head) => {
    const [one, other] = ['Aa', 'BB'].map((method) => callKey(method, params, 2))
    if (!one || !other) throw new Error('there are two')
    expect(one.hash).toBe(other.hash)
    const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
    store.set(one, entryOf('of one', head))
    expect(store.get(other)).toBeUndefined()
    expect(store.get(one)?.answer.upstream).toBe('of one')
  },
)

test('a final answer replaces one from before the block was final', () => {
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  for (const head of [6, 7, -1]) store.set(keyNamed('key'), entryOf('a', head))
  expect(store.get(keyNamed('key'))?.head).toBe(-1)
})

test('a long answer about the latest block is shared until it is replaced', () => {
  const store = new MemoryStore(1024 * 1024, new ByteBudget(Infinity))
  const key = keyNamed('key')
  const set = (length: number) => store.set(key, entryOf('a', 7, Buffer.alloc(length)))
  const got = () => store.get(key)?.answer.body
  set(50_000)
  expect(got()).toHaveLength(50_000)
  expect(got()).toBe(got())
  set(10)
  expect(got()).toHaveLength(10)
  set(40_000)
  expect(got()).toHaveLength(40_000)
  expect(store.bytes).toBeGreaterThan(40_000)
})

test('short-lived answers evict each other, except those in use, and no final one', () => {
  const store = new MemoryStore(64 * 1024, new ByteBudget(Infinity))
  const has = (key: string) => store.get(keyNamed(key)) !== undefined
  store.set(keyNamed('final'), entryOf('a', -1))
  for (const key of ['used', 'unused']) store.set(keyNamed(key), entryOf('a', 7))
  for (let each = 0; each < 100; each++) {
    store.set(keyNamed(`other ${each}`), entryOf('a', 7))
    expect(has('used')).toBe(true)
  }
  expect([has('final'), has('unused'), has('other 99')]).toEqual([true, false, true])
  expect(store.evictions).toBeGreaterThan(80)
  expect(store.bytes).toBeLessThan(64 * 1024)
})

test('an answer that is replaced with each block, or forgotten, takes no room', () => {
  const store = new MemoryStore(64 * 1024, new ByteBudget(Infinity))
  store.set(keyNamed('other'), entryOf('a', 7))
  const before = store.bytes
  for (let head = 0; head < 100; head++) store.set(keyNamed('key'), entryOf('a', head))
  expect(store.get(keyNamed('other'))).toBeDefined()
  expect([store.bytes, store.evictions]).toEqual([2 * before - 2, 0])
  store.delete(keyNamed('key'))
  expect(store.bytes).toBe(before)
})

const params = Buffer.from('[]')

function keyNamed(text: string): Key {
  return callKey('', Buffer.from(text), text.length)
}

function entryOf(upstream: string, head: number, body: Buffer | string = '{}'): Entry {
  const given = { status: 200, headers: [], trailers: [], body, id: null, upstream }
  const answer = { ...given, refusal: null, latestBlock: 7 }
  const times = { expiresMs: Infinity, ttlMs: 500 }
  return { answer, ageClass: 'latest', isEmpty: false, ...times, head, branch: 0 }
}
