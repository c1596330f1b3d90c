// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from './entry.ts'
import { RecentAnswers } from './recent-answers.ts'

/** Of 16 entries, as many as are looked at. */
const maxBytes = 16 * 368

function entryOf(key: string, length: number, number: number): Entry {
  const upstream = 'ab'[number % 2] as string
  const body = Buffer.alloc(length, String(number))
  const id = number % 3 === 0 ? null : { start: number, end: number + 1 }
  const headers = ['x-number', String(number % 5)]
  const given = { status: 200 + (number % 2), headers, trailers: [], body, id, upstream }
  const answer = { ...given, refusal: null, latestBlock: number % 4 === 0 ? null : number }
  return { key, answer, ageClass: 'latest', expiresMs: number, head: number, branch: number }
}

const step = fc.record({
  key: fc.constantFrom(...'abcdefgh'.split('').map((each) => each.repeat(5))),
  // Few, so that keys share them.
  hash: fc.integer({ min: -2, max: 2 }),
  length: fc.oneof(fc.nat(200), fc.nat(maxBytes)),
})

test('gives the last answer of each key as it was set, or none; the oldest go first, and it never takes more room', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const recent = new RecentAnswers(maxBytes)
      const set = new Map<string, Entry>()
      for (const [number, { key, hash, length }] of steps.entries()) {
        const name = `${key} ${hash}`
        const entry = entryOf(name, length, number)
        if (recent.set(hash, entry)) {
          set.set(name, entry)
          expect(recent.get(name, hash)).toEqual(entry)
        }
        const found = [...set].filter(([each]) => recent.get(each, Number(each.split(' ')[1])))
        for (const [each, entry] of found)
          expect(recent.get(each, Number(each.split(' ')[1]))).toEqual(entry)
        // Those that are gone are older than those that are there.
        const oldest = Math.min(...found.map(([, { head }]) => head))
        for (const [each, { head }] of set)
          if (!found.some(([one]) => one === each)) expect(head).toBeLessThan(oldest)
        expect(recent.bytes).toBeLessThanOrEqual(maxBytes)
        expect(recent.count).toBeGreaterThanOrEqual(found.length)
      }
    }),
  )
})

test('hundreds of thousands are kept for as long as there is room', () => {
  const recent = new RecentAnswers(1024 * 1024)
  for (let number = 1; number <= 200_000; number++)
    recent.set(Math.imul(number, 31), entryOf(`key ${number}`, 80, number))
  const { count, evictions } = recent
  expect(count + evictions).toBe(200_000)
  expect(count).toBeGreaterThan(2_000)
  for (let number = 200_000 - count + 1; number <= 200_000; number += 7)
    expect(recent.get(`key ${number}`, Math.imul(number, 31))?.head).toBe(number)
  expect(recent.get(`key ${200_000 - count}`, Math.imul(200_000 - count, 31))).toBeUndefined()
})
