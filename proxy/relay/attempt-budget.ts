// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import type { ByteStream } from '../upstream/wire.ts'

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may meet a slow one. */
const blocksWaited = 2

/** What the spec says of the method, else what its cost suggests. */
export function usualBudgetMs(asked: Classification, minMs: number, blockTimeMs: number): number {
  const waitMs = asked.waitsForBlock ? blocksWaited * blockTimeMs : 0
  return waitMs + Math.max(asked.timeoutMs ?? asked.cost * msPerCost, minMs)
}

/** The same stream; `ended` is called when all of it has been taken. */
export function noticing(body: ByteStream, ended: () => void): ByteStream {
  return {
    length: body.length ?? null,
    [Symbol.asyncIterator]() {
      const source = body[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await source.next()
          if (result.done) ended()
          return result
        },
        async return() {
          await source.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
