// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { BlockMemory } from './block-memory.ts'

/** So many blocks are remembered. */
const capacity = 4_096

test('a block that is heard of again is remembered longer than those between', () => {
  const memory = new BlockMemory()
  memory.hear('x', 'a', 1, 'p')
  for (let each = 1; each < capacity; each++) memory.hear('x', `b${each}`, 1, 'p')
  memory.hear('x', 'a', 1, 'p')
  memory.hear('x', 'c', 1, 'p')
  expect(memory.size).toBe(capacity)
  expect(memory.hear('x', 'a', 1, 'q')).toMatchObject({ kind: 'contradicted' })
  expect(memory.hear('x', 'b1', 1, 'q')).toEqual({ kind: 'fits' })
})

test('six versions of a block are kept apart: of those with the fewest tellers the last goes', () => {
  const memory = new BlockMemory()
  for (const honest of ['x', 'y']) memory.hear(honest, 'a', 1, 'p')
  for (let liar = 0; liar < 6; liar++) memory.hear(`liar ${liar}`, 'a', 1, `q${liar}`)
  // What it told before is forgotten, so it contradicts nobody.
  expect(memory.hear('liar 4', 'a', 1, 'p')).toEqual({ kind: 'fits' })
  expect(memory.hear('liar 3', 'a', 1, 'p')).toMatchObject({ kind: 'contradicted', parent: 'q3' })
})

test.each<[string, string | null, string]>([
  ['in passing makes nobody doubt as many who told another', null, 'fits'],
  ['with its parent is in dispute with as many who told another', 'q', 'disputed'],
])('a height that is told %s', (_case, parent, kind) => {
  const memory = new BlockMemory()
  memory.hear('x', 'a', 1, 'p')
  expect(memory.hear('y', 'a', 2, parent).kind).toBe(kind)
  // More of them are right.
  memory.hear('z', 'b', 1, 'p')
  memory.hear('x', 'b', 1, 'p')
  expect(memory.hear('y', 'b', 2, parent).kind).toBe('contradicted')
})
