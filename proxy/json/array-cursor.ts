// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spaceEnd, valueEnd } from './value.ts'

/**
 * Walks the elements of one array, one `next()` each. All values are checked on the way, so an
 * array walked to its end is valid JSON.
 */
export class ArrayCursor {
  readonly #bytes: Uint8Array
  valueStart = 0
  valueEnd = 0
  /** Once `next()` gave false: the offset behind the array, or `~offset` of what is wrong. */
  end = 0
  #at: number

  /** `at` is the offset of the opening bracket. */
  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  next(): boolean {
    const bytes = this.#bytes
    const isFirst = this.valueEnd === 0
    let at = spaceEnd(bytes, isFirst ? this.#at + 1 : this.#at)
    if (bytes[at] === 0x5d) return this.#stop(at + 1)
    if (!isFirst) {
      if (bytes[at] !== 0x2c) return this.#stop(~at)
      at = spaceEnd(bytes, at + 1)
    }
    const end = valueEnd(bytes, at)
    if (end < 0) return this.#stop(end)
    this.valueStart = at
    this.valueEnd = end
    this.#at = end
    return true
  }

  #stop(end: number): false {
    this.end = end
    return false
  }
}
