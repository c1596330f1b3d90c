// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from './byte-budget.ts'

const nothing = Buffer.alloc(0)

/**
 * Collects chunks in one buffer, so that a million tiny ones cost at most twice their bytes. Does
 * not copy a single chunk. The bytes count against the budget until taken or released.
 */
export class GrowingBuffer extends Reservation {
  #buffer: Uint8Array = nothing
  length = 0

  /** The collected bytes, without a copy. Later chunks do not change them. */
  get bytes(): Uint8Array {
    return this.#buffer.length === this.length
      ? this.#buffer
      : this.#buffer.subarray(0, this.length)
  }

  /** @param source announces the total length, trusted up to 16 times the bytes received */
  push(piece: Uint8Array, source?: { announcedBytes(): number | null }): void {
    const length = this.length + piece.length
    if (this.length === 0) this.#keep(piece)
    else {
      if (length > this.#buffer.length) {
        const expected = source?.announcedBytes() ?? 0
        const isBelieved = expected >= length && expected <= length * 16
        const grown = Buffer.allocUnsafeSlow(isBelieved ? expected : length * 2)
        grown.set(this.bytes)
        this.#keep(grown)
      }
      this.#buffer.set(piece, this.length)
    }
    this.length = length
  }

  /** Returns the bytes and empties the buffer. */
  take(): Uint8Array {
    const { bytes } = this
    this.waits(0)
    this.hold(-this.#buffer.length)
    this.#buffer = nothing
    this.length = 0
    return bytes
  }

  #keep(buffer: Uint8Array): void {
    this.hold(buffer.length - this.#buffer.length)
    this.#buffer = buffer
  }
}
