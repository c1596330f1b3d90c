// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spaceEnd, valueEnd } from '../../json/value.ts'

/**
 * Walks the items of an array that is known to be valid JSON. Whoever reads an item says where it
 * ended, so that no byte is looked at twice.
 */
export class ItemCursor {
  readonly #bytes: Uint8Array
  #at: number
  #isFirst = true
  /** How many items came before this one. */
  index: number
  start = 0

  /** `at` is the offset of the opening bracket; `skipped` items came before those at hand. */
  constructor(bytes: Uint8Array, at: number, skipped = 0) {
    this.#bytes = bytes
    this.#at = at + 1
    this.index = skipped - 1
  }

  next(): boolean {
    const bytes = this.#bytes
    let at = spaceEnd(bytes, this.#at)
    if (!this.#isFirst && bytes[at] === 0x2c) at = spaceEnd(bytes, at + 1)
    else if (!this.#isFirst) return false
    if (at >= bytes.length || bytes[at] === 0x5d) return false
    this.#isFirst = false
    this.index += 1
    this.start = at
    return true
  }

  get isObject(): boolean {
    return this.#bytes[this.start] === 0x7b
  }

  /** Behind the item, once it was read or passed over. */
  get end(): number {
    return this.#at
  }

  /** The item was read up to here. */
  ended(end: number): void {
    this.#at = end < 0 ? this.#bytes.length : end
  }

  /** Passes over the item. */
  skip(): void {
    this.ended(valueEnd(this.#bytes, this.start))
  }
}
