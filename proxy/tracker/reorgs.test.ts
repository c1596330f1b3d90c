// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { Reorgs } from './reorgs.ts'

/** `2@10`: a reorg of two blocks in minute 10. */
test.each<[string, string, string | null]>([
  ['none', '', null],
  ['one block, once', '1@59', null],
  ['one block, twice', '1@58 1@59', null],
  ['three within minutes', '1@56 1@57 1@58', '3 reorgs in 5 minutes, up to 1 block deep'],
  ['a deep one', '3@59', '1 reorg in 5 minutes, up to 3 blocks deep'],
  ['a deep one, as deep as another of the last hour', '3@20 3@59', null],
  ['a deep one, long ago', '3@50', null],
  [
    'a chain on which they are usual',
    Array.from({ length: 60 }, (_, minute) => `1@${minute}`).join(' '),
    null,
  ],
])('reorgs: %s', async (_name, spelled, expected) => {
  const clock = new VirtualClock()
  const reorgs = new Reorgs(clock)
  for (const each of spelled.split(' ').filter(Boolean)) {
    const [depth, minute] = each.split('@').map(Number) as [number, number]
    await clock.advance(minute * 60_000 - clock.nowMs())
    reorgs.add(100, depth)
  }
  await clock.advance(60 * 60_000 - clock.nowMs())
  expect(reorgs.notice).toBe(expected)
})

test('a reorg says how deep the deepest one of the last hour was', async () => {
  const clock = new VirtualClock()
  const reorgs = new Reorgs(clock)
  expect(reorgs.add(100, 2)).toEqual({ block: 100, depth: 2, usualDepth: 1 })
  expect(reorgs.add(102, 5)).toEqual({ block: 102, depth: 5, usualDepth: 2 })
  await clock.advance(61 * 60_000)
  expect(reorgs.add(400, 3)).toEqual({ block: 400, depth: 3, usualDepth: 1 })
})
