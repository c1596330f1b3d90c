// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUtf8 } from 'node:buffer'

const nothing = new Uint8Array()

/** Finds bytes that are not UTF-8 in a text that comes in pieces, cut wherever. */
export class Utf8Stream {
  /** The beginning of a character whose end is still to come: at most three bytes. */
  #begun: Uint8Array = nothing

  /** @returns whether the text may be UTF-8 so far */
  push(chunk: Uint8Array): boolean {
    let bytes = chunk
    if (this.#begun.length > 0) {
      const missing = lengthOf(this.#begun[0] as number) - this.#begun.length
      const character = Buffer.concat([this.#begun, chunk.subarray(0, missing)])
      if (chunk.length < missing) {
        this.#begun = character
        return true
      }
      if (!isUtf8(character)) return false
      bytes = chunk.subarray(missing)
    }
    const end = bytes.length - begunAtEnd(bytes)
    this.#begun = Uint8Array.from(bytes.subarray(end))
    return isUtf8(bytes.subarray(0, end))
  }

  /** Whether the text does not end within a character. */
  get isWhole(): boolean {
    return this.#begun.length === 0
  }
}

/** How many bytes at the end are the beginning of a longer character. */
function begunAtEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** Of the character that begins so; bytes that begin none are found when they are looked at. */
function lengthOf(first: number): number {
  if (first < 0xc0) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
