// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../bytes/byte-budget.ts'
import { expect, test } from 'vitest'
import { wholeBody } from './wire.ts'
import type { BodyStream } from './wire.ts'

const maxBytes = 4

test.each<[string, string[], string | null]>([
  ['nothing', [], ''],
  ['exactly the limit', ['ab', 'cd'], 'abcd'],
  ['a byte over the limit', ['ab', 'cd', 'e'], null],
  ['a byte over the limit in one chunk', ['abcde'], null],
])('of %s', async (_, pieces, expected) => {
  const textOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString()
  let isLetGo = false
  const stream: BodyStream = {
    head: [],
    async *[Symbol.asyncIterator]() {
      try {
        for (const piece of pieces) yield Buffer.from(piece)
        // The reader must not wait for bytes beyond the limit.
        if (expected === null) await new Promise(() => {})
      } finally {
        isLetGo = true
      }
    },
  }
  expect(textOf(await wholeBody(stream, maxBytes))).toBe(expected)
  expect(isLetGo).toBe(true)
  expect(textOf(await wholeBody(Buffer.from(pieces.join('')), maxBytes))).toBe(expected)
})

test('a body counts towards the budget while it arrives', async () => {
  const budget = new ByteBudget(1e9)
  const heldBytes: number[] = []
  async function* stream() {
    for (let at = 0; at < 3; at++) {
      yield Buffer.alloc(100)
      heldBytes.push(budget.heldBytes)
    }
  }
  expect((await wholeBody(stream(), 1_000, budget))?.length).toBe(300)
  expect([heldBytes, budget.heldBytes]).toEqual([[100, 400, 400], 0])
})
