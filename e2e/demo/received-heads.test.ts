// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ReceivedHeads } from './received-heads.ts'

const hashOf = (height: number) => `hash ${height}`

test.each([
  ['all heads', [7, 8, 9], 9, { heads: 3, missed: 0, doubled: 0, wrong: 0 }],
  ['one missing', [7, 9], 9, { heads: 2, missed: 1, doubled: 0, wrong: 0 }],
  ['the last heads missing', [7], 9, { heads: 1, missed: 2, doubled: 0, wrong: 0 }],
  ['one twice', [7, 8, 8, 9], 9, { heads: 4, missed: 0, doubled: 1, wrong: 0 }],
  ['one too late', [7, 9, 8], 9, { heads: 3, missed: 0, doubled: 1, wrong: 0 }],
  ['no heads', [], 9, { heads: 0, missed: 9, doubled: 0, wrong: 0 }],
  ['ahead of the chain', [7, 8, 9], 8, { heads: 2, missed: 0, doubled: 0, wrong: 0 }],
])('%s', (_what, heights, head, expected) => {
  const received = new ReceivedHeads()
  for (const height of heights) received.add(height, hashOf(height))
  expect(received.sum(head, hashOf)).toMatchObject(expected)
})

test('a wrong hash counts, and heads without a hash are not checked', () => {
  const received = new ReceivedHeads()
  received.add(7, 'hash 8')
  received.add(8, null)
  expect(received.sum(8, hashOf)).toEqual({ heads: 2, missed: 0, doubled: 0, wrong: 1 })
})
