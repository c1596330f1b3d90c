// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteStream } from '../upstream/wire.ts'

/** How the reading of a stream ended. `left`: its reader did not want the rest, or any of it. */
export type StreamEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'left' }
  | { readonly kind: 'broken'; readonly cause: unknown }

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/** The same stream; `ended` hears once how its reading ended, also when it never began. */
export function withEnd(body: ByteStream, ended: (end: StreamEnd) => void): ByteStream {
  const source = body[Symbol.asyncIterator]()
  let isOver = false
  const tell = (end: StreamEnd) => {
    if (!isOver) ended(end)
    isOver = true
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const result = await source.next()
        if (result.done) tell({ kind: 'complete' })
        return result
      } catch (cause) {
        tell({ kind: 'broken', cause })
        throw cause
      }
    },
    async return() {
      tell({ kind: 'left' })
      await source.return?.()
      return done
    },
  }
  return { length: body.length ?? null, [Symbol.asyncIterator]: () => iterator }
}
