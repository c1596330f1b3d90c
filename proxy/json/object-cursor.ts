// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spaceEnd, stringEnd, valueEnd } from './value.ts'

/**
 * Walks the members of one object, one `next()` each, in their order and with duplicates. All
 * values are checked on the way, so an object walked to its end is valid JSON.
 */
export class ObjectCursor {
  readonly #bytes: Uint8Array
  /** The member's name with its quotes. */
  nameStart = 0
  nameEnd = 0
  valueStart = 0
  valueEnd = 0
  /** Once `next()` gave false: the offset behind the object, or `~offset` of what is wrong. */
  end = 0
  #at: number

  /** `at` is the offset of the opening brace. */
  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  next(): boolean {
    const bytes = this.#bytes
    const isFirst = this.valueEnd === 0
    let at = spaceEnd(bytes, isFirst ? this.#at + 1 : this.#at)
    if (bytes[at] === 0x7d) return this.#stop(at + 1)
    if (!isFirst) {
      if (bytes[at] !== 0x2c) return this.#stop(~at)
      at = spaceEnd(bytes, at + 1)
    }
    if (bytes[at] !== 0x22) return this.#stop(~at)
    this.nameStart = at
    at = stringEnd(bytes, at)
    if (at < 0) return this.#stop(at)
    this.nameEnd = at
    at = spaceEnd(bytes, at)
    if (bytes[at] !== 0x3a) return this.#stop(~at)
    this.valueStart = spaceEnd(bytes, at + 1)
    const end = valueEnd(bytes, this.valueStart)
    if (end < 0) return this.#stop(end)
    this.valueEnd = end
    this.#at = end
    return true
  }

  #stop(end: number): false {
    this.end = end
    return false
  }
}
