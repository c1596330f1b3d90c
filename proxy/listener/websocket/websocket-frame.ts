// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Writable } from 'node:stream'

/** Up to here a frame is written in one piece, which costs less than writing its pieces. */
const joinedBytes = 4_096
const longestHeadBytes = 10

/**
 * Writes the text frames of a server (RFC 6455, 5.2). Long ones are written as the pieces they are
 * made of: what many clients get is in memory once. Short ones are put together in a buffer that is
 * used again for the next client, unless the wire keeps it: memory for each would be garbage as soon
 * as it is written, and thousands of clients get their notification at once.
 */
export class FrameWriter {
  #scratch = Buffer.allocUnsafeSlow(longestHeadBytes + joinedBytes)

  /** @returns false when it is time to wait until the wire is drained */
  write(
    wire: Writable,
    pieces: readonly Uint8Array[],
    { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
  ): boolean {
    let length = 0
    for (const piece of pieces) length += piece.length
    const opcode = (isLast ? 0x80 : 0) | (isFirst ? 0x1 : 0)
    let at = this.#head(opcode, length)
    if (length > joinedBytes) {
      wire.cork()
      let goesOn = wire.write(Buffer.from(this.#scratch.subarray(0, at)))
      for (const piece of pieces) goesOn = wire.write(piece)
      wire.uncork()
      return goesOn
    }
    for (const piece of pieces) {
      this.#scratch.set(piece, at)
      at += piece.length
    }
    const goesOn = wire.write(this.#scratch.subarray(0, at))
    // It was not taken at once, so these bytes must stay as they are.
    if (wire.writableLength > 0)
      this.#scratch = Buffer.allocUnsafeSlow(longestHeadBytes + joinedBytes)
    return goesOn
  }

  /** Puts what stands before the bytes into the buffer. @returns its length */
  #head(opcode: number, length: number): number {
    const scratch = this.#scratch
    scratch[0] = opcode
    if (length < 126) {
      scratch[1] = length
      return 2
    }
    if (length < 0x10000) {
      scratch[1] = 126
      scratch.writeUInt16BE(length, 2)
      return 4
    }
    scratch[1] = 127
    scratch.writeUInt16BE(0, 2)
    scratch.writeUIntBE(length, 4, 6)
    return longestHeadBytes
  }
}
