// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentBlocks } from './recent-blocks.ts'

/** `5a`: block 5 of branch a with parent 4a. `5b<4a`: another parent. `5a?`: requested by hash. */
function observe(blocks: RecentBlocks, spelled: string, highest = 0) {
  const [, number = '', branch = '', on, isByHash] = /^(\d+)(\w)(?:<(\w+))?(\?)?$/.exec(spelled)!
  const parent = on ?? `${Number(number) - 1}${branch}`
  return blocks.observe(
    { number: Number(number), hash: number + branch, parent, isByHash: Boolean(isByHash) },
    highest,
  )
}

test.each<[string, string, string]>([
  ['the first block', '5a', 'no'],
  ['the same block', '5a 5a', 'no no'],
  ['the next block', '5a 6a 8a', 'no no no'],
  ['a block at the same height', '5a 5b', 'no yes'],
  ['a block whose parent is another one', '5a 6b', 'no yes'],
  ['a block that replaces two', '5a 6a 5b 6b', 'no no yes no'],
  ['a branch that comes back', '5a 5b 5a', 'no yes yes'],
  ['a block of another branch, by its hash', '5a 5b?', 'no maybe'],
  ['several blocks of other branches by hash', '5a 5b? 5c? 5b? 5a', 'no maybe maybe no no'],
  ['a block by hash that is on the chain after all', '5a 5b? 5b 5a?', 'no maybe yes no'],
  ['a child of another branch by hash', '5a 6b? 6b', 'no maybe yes'],
  ['a child that is on the chain after all', '5a 5b? 6b', 'no maybe yes'],
  ['the first block of a height, by its hash', '5a 6a? 6a', 'no no no'],
  ['an abandoned block, by its hash again', '5a 5b 5a? 5b', 'no yes no no'],
  ['the parent of an abandoned block', '4a 5a 4b 5b 5a?', 'no no yes no no'],
  ['blocks of one branch in any order', '7a 5a 6a 4a', 'no no no no'],
])('%s', (_, spelled, expected) => {
  const blocks = new RecentBlocks()
  const words = { replaced: 'yes', doubtful: 'maybe' }
  const replaced = spelled.split(' ').map((each) => words[observe(blocks, each)!] ?? 'no')
  expect(replaced.join(' ')).toBe(expected)
})

test('the number of a hash stays known after its block is replaced', () => {
  const blocks = new RecentBlocks()
  for (const each of ['5a', '5b']) observe(blocks, each)
  expect(['5a', '5b', '6a'].map((hash) => blocks.numberOf(hash))).toEqual([5, 5, null])
})

test('reads of old blocks never evict recent ones', () => {
  const blocks = new RecentBlocks()
  observe(blocks, '10000a', 10_000)
  for (let number = 1; number < 9_000; number++) observe(blocks, `${number}a`, 10_000)
  expect(observe(blocks, '10000b', 10_000)).toBe('replaced')
})

test('one branch in any order causes no reorg, and memory is bounded', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2_000 })), (numbers) => {
      const blocks = new RecentBlocks()
      for (const each of numbers) expect(observe(blocks, `${each}a`)).toBeNull()
      const isKnown = (number: number) => blocks.numberOf(`${number}a`) !== null
      expect(numbers.filter(isKnown).length).toBeLessThanOrEqual(numbers.length)
      expect(new Set(numbers.filter(isKnown)).size).toBeLessThanOrEqual(256)
    }),
  )
})
