// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation } from './byte-budget.ts'

const nothing = Buffer.alloc(0)

/**
 * Collects pieces in one buffer, so that a million tiny ones cost twice their bytes and no more. One piece alone
 * is kept as it is. What it holds counts in the budget until it is taken or released, whoever still reads it then.
 */
export class GrowingBuffer extends Reservation {
  #buffer: Uint8Array = nothing
  length = 0

  /** What was collected, without a copy. More pieces do not change it. */
  get bytes(): Uint8Array {
    return this.#buffer.length === this.length
      ? this.#buffer
      : this.#buffer.subarray(0, this.length)
  }

  /** @param source says how many bytes will come, if it knows; that is believed for 16 times of what has come */
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

  /** Empties it. */
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
