// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The longest head of an item: how long its length is, and that length. */
const maxHeadBytes = 9
const [textHead, listHead] = [0x80, 0xc0]
/** From here on the length stands behind the head. */
const longBytes = 56

/** One list in RLP (yellow paper, appendix B), made of values in hex without `0x`. */
export class RlpList {
  #bytes: Buffer
  #length = maxHeadBytes

  /** @param capacity bytes that it will probably take */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity + maxHeadBytes)
  }

  /** A number, whatever zeros it is written with. @returns false for what is none */
  addQuantity(digits: string): boolean {
    let first = 0
    while (digits.charCodeAt(first) === 0x30) first++
    const bare = digits.slice(first)
    return this.addData(bare.length % 2 === 0 ? bare : `0${bare}`)
  }

  /** Bytes. @returns false for what is none */
  addData(digits: string): boolean {
    if (digits.length % 2 !== 0) return false
    const length = digits.length / 2
    this.#reserve(length)
    const start = this.#length
    if (length !== 1) this.#writeHead(textHead, length)
    const at = this.#length
    if (this.#bytes.write(digits, at, 'hex') !== length) return false
    if (length === 1 && (this.#bytes[at] as number) >= textHead) {
      this.#bytes[at + 1] = this.#bytes[at] as number
      this.#bytes[at] = textHead + 1
      this.#length = start + 2
    } else this.#length = at + length
    return true
  }

  addList(list: RlpList): void {
    const encoded = list.encoded()
    this.#reserve(encoded.length)
    encoded.copy(this.#bytes, this.#length)
    this.#length += encoded.length
  }

  /** The whole list with its head, and with a byte before it where it has a type (EIP-2718). */
  encoded(type = 0): Buffer {
    const contentBytes = this.#length - maxHeadBytes
    const lengthBytes = contentBytes < longBytes ? 0 : bytesOf(contentBytes)
    const start = maxHeadBytes - 1 - lengthBytes
    this.#bytes[start] = headOf(listHead, contentBytes)
    if (lengthBytes > 0) this.#bytes.writeUIntBE(contentBytes, start + 1, lengthBytes)
    if (type === 0) return this.#bytes.subarray(start, this.#length)
    this.#bytes[start - 1] = type
    return this.#bytes.subarray(start - 1, this.#length)
  }

  #writeHead(kind: number, length: number): void {
    this.#bytes[this.#length++] = headOf(kind, length)
    if (length < longBytes) return
    const lengthBytes = bytesOf(length)
    this.#bytes.writeUIntBE(length, this.#length, lengthBytes)
    this.#length += lengthBytes
  }

  #reserve(length: number): void {
    const wanted = this.#length + maxHeadBytes + length
    if (wanted <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * wanted)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

function headOf(kind: number, length: number): number {
  return kind + (length < longBytes ? length : longBytes - 1 + bytesOf(length))
}

/** Bytes that a number takes. */
function bytesOf(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 0xff; rest = Math.floor(rest / 256)) bytes++
  return bytes
}
