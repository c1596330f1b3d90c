// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { systemClock } from '../../clock/clock.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import { CacheServiceStore } from './cache-store.ts'

const KiB = 1024
const newStore = () => new CacheServiceStore(64 * KiB, systemClock, seededRandom(1))
const bytesOf = (length: number) => Buffer.alloc(length)

test('entries expire', async () => {
  const store = newStore()
  store.set('a', Buffer.from('answer'), 50)
  store.claim('c', Buffer.from('claim'), 50)
  store.claim('d', Buffer.from('claim'), 60_000)
  await expect.poll(() => [store.get('a'), store.get('c')]).toEqual([{}, {}])
  expect(store.get('d').ttlMs).toBeGreaterThan(1_000)
  expect(store.claim('c', Buffer.from('next'), 60_000)).toEqual({})
})

test('answers are evicted, least recently used first, and never claims instead', () => {
  const store = newStore()
  store.claim('claim', bytesOf(10), 1e6)
  store.increment('counter')
  for (let each = 0; each < 1_000; each++) {
    store.set(`answer-${each}`, bytesOf(KiB), 1e6)
    store.get('answer-0')
    expect(store.bytes).toBeLessThanOrEqual(64 * KiB)
  }
  expect(store.evictions).toBeGreaterThan(900)
  const has = (key: string) => store.get(key).value !== undefined
  expect(['answer-0', 'answer-1', 'answer-999', 'claim'].map(has)).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(store.counter('counter')).toBe(1)
  store.set('too long', bytesOf(60 * KiB), 1e6)
  expect(has('too long')).toBe(false)
})

test('claims are refused when there is no room, until others have expired', async () => {
  const store = newStore()
  const fill = () => {
    for (let each = 0; ; each++) store.claim(`claim-${each}`, bytesOf(KiB), 500)
  }
  expect(fill).toThrow(RangeError)
  expect(() => store.increment('counter-' + 'x'.repeat(2 * KiB))).toThrow(RangeError)
  expect(store.get('claim-0').value).toHaveLength(KiB)
  store.set('answer', bytesOf(KiB), 1e6)
  expect(store.get('answer').value).toHaveLength(KiB)
  const claim = () => store.claim('another', bytesOf(KiB), 500)
  await expect.poll(claim).toEqual({})
})

test('a counter still counts when there is no room', () => {
  const store = newStore()
  for (let each = 0; each < 9; each++) store.increment('counter')
  const fill = (length: number) => {
    for (let each = 0; ; each++) store.claim(`${length}-${each}`, bytesOf(length), 1e6)
  }
  for (let length = 1_024; length >= 0; length--) expect(() => fill(length)).toThrow(RangeError)
  expect([store.increment('counter'), store.counter('counter')]).toEqual([10, 10])
})

test('a claim is deleted by its own value, or without a value', () => {
  const store = newStore()
  const [one, two] = [Buffer.from('one'), Buffer.from('two')]
  store.claim('c', one, 1e6)
  expect(store.claim('c', two, 1e6)).toEqual({ value: new Uint8Array(one) })
  store.delete('c', two)
  expect(store.get('c').value).toBeDefined()
  store.delete('c', one)
  expect(store.get('c')).toEqual({})
  store.claim('c', one, 1e6)
  store.delete('c', undefined)
  expect(store.get('c')).toEqual({})
})
