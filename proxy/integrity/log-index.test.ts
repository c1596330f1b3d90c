// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LogIndex } from './log-index.ts'
import { checkLogs, readLogFilter } from './logs.ts'

const addresses = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}`)
// Includes topics with leading zeros, and all zeros.
const topics = ['1'.repeat(64), `${'0'.repeat(62)}aB`, '0'.repeat(64)].map(
  (digits) => `0x${digits}`,
)

const log = fc.record({
  address: fc.constantFrom(...addresses),
  topics: fc.array(fc.constantFrom(...topics), { maxLength: 4 }),
})
const some = (values: readonly string[]) =>
  fc.oneof(fc.constantFrom(...values), fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }))
const filter = fc.record(
  {
    address: some(addresses),
    topics: fc.array(fc.option(some(topics)), { maxLength: 4 }),
  },
  { requiredKeys: [] },
)

type Wish = string | string[] | null | undefined
const isAmong = (value: string | undefined, wish: Wish) =>
  wish === null || wish === undefined || (value !== undefined && wish.includes(value))

test('each filter finds what a node would find, in the same order', () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 12 }), fc.array(filter), (logs, filters) => {
      const all = logs.map((fields) => ({ fields, event: Buffer.from(JSON.stringify(fields)) }))
      const index = new LogIndex(all)
      expect(index.isComplete).toBe(true)
      for (const each of filters) {
        const wanted = each.topics ?? []
        const fitting = all.filter(
          ({ fields }) =>
            isAmong(fields.address, each.address) &&
            wanted.every((any, at) => at < fields.topics.length && isAmong(fields.topics[at], any)),
        )
        const found = index.matching(readLogFilter(each, { kind: 'none' }))
        expect(found).toEqual(fitting)
        // The check of an answer accepts what the index finds.
        const answer = found.map(({ fields }) => fields)
        expect(checkLogs(answer, each, { kind: 'none' })).toBeNull()
      }
    }),
  )
})

test.each([
  ['an address in a special form', { address: 'a.near', topics: [] }],
  ['no address', { topics: [] }],
  ['no topics', { address: addresses[0] }],
  ['a topic that is not a hash', { address: addresses[0], topics: ['transfer'] }],
  ['five topics', { address: addresses[0], topics: Array(5).fill(topics[0]) as string[] }],
])('with %s, only a node knows the matches', (_, fields) => {
  expect(new LogIndex([{ fields, event: new Uint8Array() }]).isComplete).toBe(false)
})
