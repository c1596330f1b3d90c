// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { systemClock } from '../clock/clock.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { CacheServiceStore } from './cache-store.ts'

const KiB = 1024
const newShelf = () => new CacheServiceStore(64 * KiB, systemClock, seededRandom(1))
const bytesOf = (length: number) => Buffer.alloc(length)

test('entries expire', async () => {
  const shelf = newShelf()
  shelf.set('a', Buffer.from('answer'), 50)
  shelf.claim('c', Buffer.from('claim'), 50)
  shelf.claim('d', Buffer.from('claim'), 60_000)
  await expect.poll(() => [shelf.get('a'), shelf.get('c')]).toEqual([{}, {}])
  expect(shelf.get('d').ttlMs).toBeGreaterThan(1_000)
  expect(shelf.claim('c', Buffer.from('next'), 60_000)).toEqual({})
})

test('answers are evicted, least recently used first, and never claims instead', () => {
  const shelf = newShelf()
  shelf.claim('claim', bytesOf(10), 1e6)
  shelf.increment('counter')
  for (let each = 0; each < 1_000; each++) {
    shelf.set(`answer-${each}`, bytesOf(KiB), 1e6)
    shelf.get('answer-0')
    expect(shelf.bytes).toBeLessThanOrEqual(64 * KiB)
  }
  expect(shelf.evictions).toBeGreaterThan(900)
  const has = (key: string) => shelf.get(key).value !== undefined
  expect(['answer-0', 'answer-1', 'answer-999', 'claim'].map(has)).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(shelf.counter('counter')).toBe(1)
  shelf.set('too long', bytesOf(60 * KiB), 1e6)
  expect(has('too long')).toBe(false)
})

test('claims are refused when there is no room, until others have expired', async () => {
  const shelf = newShelf()
  const fill = () => {
    for (let each = 0; ; each++) shelf.claim(`claim-${each}`, bytesOf(KiB), 500)
  }
  expect(fill).toThrow(RangeError)
  expect(() => shelf.increment('counter-' + 'x'.repeat(2 * KiB))).toThrow(RangeError)
  expect(shelf.get('claim-0').value).toHaveLength(KiB)
  shelf.set('answer', bytesOf(KiB), 1e6)
  expect(shelf.get('answer').value).toHaveLength(KiB)
  const claim = () => shelf.claim('another', bytesOf(KiB), 500)
  await expect.poll(claim).toEqual({})
})

test('a counter still counts when there is no room', () => {
  const shelf = newShelf()
  for (let each = 0; each < 9; each++) shelf.increment('counter')
  const fill = (length: number) => {
    for (let each = 0; ; each++) shelf.claim(`${length}-${each}`, bytesOf(length), 1e6)
  }
  for (let length = 1_024; length >= 0; length--) expect(() => fill(length)).toThrow(RangeError)
  expect([shelf.increment('counter'), shelf.counter('counter')]).toEqual([10, 10])
})

test('a claim is deleted by its own value, or without a value', () => {
  const shelf = newShelf()
  const [one, two] = [Buffer.from('one'), Buffer.from('two')]
  shelf.claim('c', one, 1e6)
  expect(shelf.claim('c', two, 1e6)).toEqual({ value: new Uint8Array(one) })
  shelf.delete('c', two)
  expect(shelf.get('c').value).toBeDefined()
  shelf.delete('c', one)
  expect(shelf.get('c')).toEqual({})
  shelf.claim('c', one, 1e6)
  shelf.delete('c', undefined)
  expect(shelf.get('c')).toEqual({})
})
