// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { wholeBody } from './wire.ts'
import type { BodyStream } from './wire.ts'

const maxBytes = 4

test.each<[string, string[], string | null]>([
  ['nothing', [], ''],
  ['as much as is allowed', ['ab', 'cd'], 'abcd'],
  ['a byte more', ['ab', 'cd', 'e'], null],
  ['a byte more at once', ['abcde'], null],
])('of %s', async (_, pieces, expected) => {
  const textOf = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString()
  let isLetGo = false
  const stream: BodyStream = {
    head: [],
    async *[Symbol.asyncIterator]() {
      try {
        for (const piece of pieces) yield Buffer.from(piece)
        // Nobody may wait for what comes after the bound.
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
