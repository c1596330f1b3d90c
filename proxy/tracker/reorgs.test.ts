// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { type Reorg, Reorgs } from './reorgs.ts'

/** `5a`: an upstream shows block 5 of branch a with parent 4a. `6b<5a`: another parent. */
function show(reorgs: Reorgs, spelled: string, by = 'one'): Reorg | null {
  const [, number = '', branch = '', on] = /^(\d+)(\w)(?:<(\w+))?$/.exec(spelled)!
  const parent = on ?? `${Number(number) - 1}${branch}`
  const block = { number: Number(number), hash: number + branch, parent, isByHash: false }
  return reorgs.observe(block, by, Number(number))
}

/** The reorg as block and depth. @param spelled what upstreams show, such as `one:5a two:6a` */
function found(spelled: string): string[] {
  const reorgs = new Reorgs(new VirtualClock())
  return spelled.split(' ').flatMap((each) => {
    const [by = '', block = ''] = each.split(':')
    const reorg = show(reorgs, block, by)
    return reorg ? `${reorg.block} ${reorg.depth}` : []
  })
}

test.each<[string, string, string[]]>([
  ['nothing', 'one:5a one:6a', []],
  ['the head', 'one:5a one:5b<4a', ['5 1']],
  ['three blocks, from the lowest on', 'one:5a one:6a one:7a one:5b<4a one:6b', ['5 3']],
  ['a parent, and the block itself', 'one:5a one:6a one:6b', ['5 2']],
  ['the parent alone', 'one:5a one:6b', ['5 1']],
  ['a branch that comes back', 'one:5a one:5b<4a one:5a', ['5 1']],
  [
    'seven blocks, which only a node on a fork shows',
    'one:5a two:6a one:7a two:8a one:9a two:10a one:11a three:5b<4a three:6b three:11b two:12a three:12b one:12a',
    [],
  ],
  [
    'two blocks, once a second node shows the new branch',
    'one:5a two:6a one:7a two:7a one:6b<5a two:6a two:7b one:7b',
    ['6 2'],
  ],
  ['blocks of a node that the others outvote', 'one:5a two:5b<4a three:5a two:6b two:7b', []],
])('a reorg of %s', (_name, spelled, expected) => {
  expect(found(spelled)).toEqual(expected)
})

test('a node decides once no other has shown blocks for five minutes', async () => {
  const clock = new VirtualClock()
  const reorgs = new Reorgs(clock)
  show(reorgs, '5a', 'two')
  expect(show(reorgs, '5b<4a', 'one')).toBeNull()
  await clock.advance(301_000)
  expect(show(reorgs, '5b<4a', 'one')).toMatchObject({ block: 5, depth: 1 })
})

/** A reorg of so many blocks. */
function reorg(reorgs: Reorgs, block: number, depth: number): Reorg | null {
  for (let each = block; each < block + depth; each++) show(reorgs, `${each}a`)
  return show(reorgs, `${block}b<${block - 1}a`)
}

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
  for (const [at, each] of spelled.split(' ').filter(Boolean).entries()) {
    const [depth, minute] = each.split('@').map(Number) as [number, number]
    await clock.advance(minute * 60_000 - clock.nowMs())
    reorg(reorgs, 100 + 10 * at, depth)
  }
  await clock.advance(60 * 60_000 - clock.nowMs())
  expect(reorgs.notice).toBe(expected)
})

test('a reorg says how deep the deepest one of the last hour was', async () => {
  const clock = new VirtualClock()
  const reorgs = new Reorgs(clock)
  expect(reorg(reorgs, 100, 2)).toEqual({ block: 100, depth: 2, usualDepth: 1 })
  expect(reorg(reorgs, 102, 5)).toEqual({ block: 102, depth: 5, usualDepth: 2 })
  await clock.advance(61 * 60_000)
  expect(reorg(reorgs, 400, 3)).toEqual({ block: 400, depth: 3, usualDepth: 1 })
})
