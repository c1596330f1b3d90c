// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Reads numbers and bytes in the order of Bitcoin's wire. Never beyond the end: a RangeError says so. */
export class ByteReader {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.at
  }

  peek(ahead: number): number | undefined {
    return this.#bytes[this.at + ahead]
  }

  slice(start: number, end: number): Buffer {
    return this.#bytes.subarray(start, end)
  }

  bytes(count: number): Buffer {
    if (count > this.left) throw new RangeError('the bytes end too early')
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE()
  }

  uint64(): bigint {
    return this.bytes(8).readBigUInt64LE()
  }

  /** A count of one to nine bytes. */
  compact(): number {
    const first = this.bytes(1).readUInt8()
    if (first < 0xfd) return first
    if (first === 0xfd) return this.bytes(2).readUInt16LE()
    if (first === 0xfe) return this.uint32()
    return Number(this.uint64())
  }

  list<Item>(read: () => Item): Item[] {
    const count = this.compact()
    if (count > this.left) throw new RangeError('a list that is longer than its bytes')
    return Array.from({ length: count }, read)
  }
}
