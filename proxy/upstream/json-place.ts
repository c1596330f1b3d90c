// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const [quote, backslash, letterU] = [0x22, 0x5c, 0x75]
const spaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
/** What a text of JSON that is worth a mask begins with: an object, an array, a string. */
const openings: ReadonlySet<number> = new Set([0x7b, 0x5b, quote])

/** Where in a text one stands: in a string of JSON or outside, within an escape or not. Fed byte by byte. */
export class JsonPlace {
  /** Null until a byte that is no white space. */
  isJson: boolean | null = null
  inString = false
  /** Behind a backslash. */
  #isEscaped = false
  /** Digits that a `\u` still wants. */
  #digitsLeft = 0

  get inEscape(): boolean {
    return this.#isEscaped || this.#digitsLeft > 0
  }

  /** Goes on over the bytes from one offset to another. */
  pass(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && this.isJson !== false; at++) this.#step(bytes[at] as number)
  }

  /** Whether this is JSON, now that its next byte is known. */
  isJsonWith(next: number): boolean {
    return this.isJson ?? openings.has(next)
  }

  copy(): JsonPlace {
    const copy = new JsonPlace()
    copy.isJson = this.isJson
    copy.inString = this.inString
    copy.#isEscaped = this.#isEscaped
    copy.#digitsLeft = this.#digitsLeft
    return copy
  }

  #step(byte: number): void {
    if (this.isJson === null && !spaces.has(byte)) this.isJson = openings.has(byte)
    if (!this.isJson) return
    if (this.#isEscaped) {
      this.#isEscaped = false
      this.#digitsLeft = byte === letterU ? 4 : 0
    } else if (this.#digitsLeft > 0) this.#digitsLeft -= 1
    else if (byte === quote) this.inString = !this.inString
    else if (byte === backslash) this.#isEscaped = this.inString
  }
}
