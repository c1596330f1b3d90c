// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Body } from './wire.ts'

/**
 * All bytes of an answer, also of one that came as a stream; null when there are more than `maxBytes`,
 * and then the stream is let go.
 * @throws TransportError when the stream fails
 */
export async function wholeBody(body: Body, maxBytes: number): Promise<Uint8Array | null> {
  if (body instanceof Uint8Array) return body.length <= maxBytes ? body : null
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > maxBytes) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}
