// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget, WaitsForClient } from './byte-budget.ts'

const nothing = Buffer.alloc(0)

/**
 * Collects pieces in one buffer, so that a million tiny ones cost twice their bytes and no more. One piece alone
 * is kept as it is. What it holds counts in the budget until it is taken or released.
 */
export class GrowingBuffer {
  readonly #budget: ByteBudget
  readonly #client: WaitsForClient | null
  #buffer: Uint8Array = nothing
  #heldBytes = 0
  length = 0

  /** @param client sends the pieces, and is waited for until they are complete */
  constructor(budget: ByteBudget, client: WaitsForClient | null = null) {
    this.#budget = budget
    this.#client = client
  }

  /** What was collected, without a copy. More pieces do not change it. */
  get bytes(): Uint8Array {
    return this.#buffer.length === this.length
      ? this.#buffer
      : this.#buffer.subarray(0, this.length)
  }

  /** @param source says how many bytes will come, if it knows; that is believed for 16 times of what has come */
  push(piece: Uint8Array, source?: { length(): number | null }): void {
    const length = this.length + piece.length
    if (this.length === 0) this.#hold(piece)
    else {
      if (length > this.#buffer.length) {
        const expected = source?.length() ?? 0
        const isBelieved = expected >= length && expected <= length * 16
        const grown = Buffer.allocUnsafeSlow(isBelieved ? expected : length * 2)
        grown.set(this.bytes)
        this.#hold(grown)
      }
      this.#buffer.set(piece, this.length)
    }
    this.length = length
    if (!this.#client) return
    this.#budget.acted(this.#client)
    this.#budget.waits(this.#client, this.#heldBytes)
  }

  /** No more pieces come. */
  complete(): void {
    if (this.#client) this.#budget.waits(this.#client, 0)
  }

  /** Empties it. */
  take(): Uint8Array {
    const { bytes } = this
    this.release()
    this.#buffer = nothing
    this.length = 0
    return bytes
  }

  /** Its bytes count no more, whoever still reads them. */
  release(): void {
    this.complete()
    this.#budget.release(this.#heldBytes)
    this.#heldBytes = 0
  }

  #hold(buffer: Uint8Array): void {
    this.#budget.hold(buffer.length - this.#heldBytes)
    this.#heldBytes = buffer.length
    this.#buffer = buffer
  }
}
