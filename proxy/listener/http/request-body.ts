// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Readable } from 'node:stream'
import type { ByteStream } from '../../upstream/wire.ts'

const nothing = Buffer.alloc(0)

/**
 * Reads a stream to its end. Calls `done` with all bytes, or `overflow` as soon as there are more
 * than `maxBytes`; never both, and neither when the stream breaks. The rest of a body that is too
 * long is read and dropped.
 */
export function collectBody(
  stream: Readable,
  maxBytes: number,
  done: (body: Buffer) => void,
  overflow: () => void,
): void {
  // Most bodies come in one piece, so there is no list until a second one comes.
  let first: Buffer | null = null
  let pieces: Buffer[] | null = null
  let length = 0
  let over = false
  stream.on('data', (piece: Buffer) => {
    if (over) return
    length += piece.length
    if (length > maxBytes) {
      over = true
      first = pieces = null
      return overflow()
    }
    if (first === null) first = piece
    else (pieces ??= [first]).push(piece)
  })
  stream.on('end', () => {
    if (!over) done(pieces ? Buffer.concat(pieces, length) : (first ?? nothing))
  })
}

/**
 * A body as it comes, for one reader. One that leaves early lets the rest run dry, so that the
 * connection stays of use.
 */
export function uploadOf(stream: Readable, length: number): ByteStream {
  return {
    length,
    async *[Symbol.asyncIterator]() {
      try {
        for await (const piece of stream.iterator({ destroyOnReturn: false }))
          yield piece as Uint8Array
      } finally {
        stream.resume()
      }
    },
  }
}
