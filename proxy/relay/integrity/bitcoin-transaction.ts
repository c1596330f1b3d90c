// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'

/** Bitcoin's digest of bytes: 32 bytes, in the order in which they are hashed further. */
export function doubleSha256(bytes: Uint8Array): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer')
}

/** A digest as nodes write it: its bytes backwards, as 64 digits. */
export function shownDigest(digest: Uint8Array): string {
  return Buffer.from(digest.toReversed()).toString('hex')
}

/** Where the numbers of more bytes begin, by the first byte: how many bytes, and the least of them. */
const longerCounts: ReadonlyMap<number, readonly [bytes: number, least: number]> = new Map([
  [0xfd, [2, 0xfd]],
  [0xfe, [4, 0x1_0000]],
  [0xff, [8, 0x1_0000_0000]],
])

/** Walks along bytes as Bitcoin's wire has them. What goes beyond their end stays there. */
export class WireCursor {
  readonly bytes: Buffer
  /** NaN behind what is no count. */
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get isBeyond(): boolean {
    return !(this.at <= this.bytes.length)
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }

  skip(bytes: number): void {
    this.at += bytes
  }

  /** A count of one to nine bytes, in its shortest form; NaN for what is none. */
  count(): number {
    const first = this.bytes[this.at] ?? NaN
    this.at += 1
    if (!(first >= 0xfd)) return first
    const [bytes, least] = longerCounts.get(first) as readonly [number, number]
    const start = this.at
    this.at += bytes
    if (this.isBeyond) return NaN
    // At most six bytes can be read at once.
    const low = this.bytes.readUIntLE(start, Math.min(bytes, 4))
    const value = bytes === 8 ? low + this.bytes.readUInt32LE(start + 4) * 2 ** 32 : low
    if (value < least) this.at = NaN
    return value
  }

  times(count: number, read: () => void): void {
    for (let index = 0; index < count && !this.isBeyond; index++) read()
  }
}

/**
 * Passes over one transaction, with or without witnesses (BIP 144). Without inputs there is none in any
 * block or mempool, so what looks like no inputs is the marker of witnesses.
 * @returns its txid in the order of the wire: the digest of all but marker, flag and witnesses
 * (BIP 141); null for what is no transaction
 */
export function passTransaction(cursor: WireCursor): Buffer | null {
  const { bytes, at: start } = cursor
  const skipText = () => cursor.skip(cursor.count())
  cursor.skip(4)
  const hasWitnesses = bytes[cursor.at] === 0 && bytes[cursor.at + 1] === 1
  if (hasWitnesses) cursor.skip(2)
  const bodyStart = cursor.at
  const inputs = cursor.count()
  cursor.times(inputs, () => {
    cursor.skip(36)
    skipText()
    cursor.skip(4)
  })
  cursor.times(cursor.count(), () => {
    cursor.skip(8)
    skipText()
  })
  const bodyEnd = cursor.at
  let items = 0
  if (hasWitnesses)
    cursor.times(inputs, () => {
      const own = cursor.count()
      items += own
      cursor.times(own, skipText)
    })
  const lockStart = cursor.at
  cursor.skip(4)
  // Marker and flag without any witness no node writes or reads.
  if (cursor.isBeyond || inputs === 0 || (hasWitnesses && items === 0)) return null
  if (!hasWitnesses) return doubleSha256(bytes.subarray(start, cursor.at))
  const parts = [
    [start, start + 4],
    [bodyStart, bodyEnd],
    [lockStart, cursor.at],
  ] as const
  return doubleSha256(Buffer.concat(parts.map(([from, to]) => bytes.subarray(from, to))))
}

/** The txid of these bytes, as 64 digits; null unless they are one transaction and nothing else. */
export function bitcoinTxid(bytes: Buffer): string | null {
  const cursor = new WireCursor(bytes)
  const digest = passTransaction(cursor)
  return digest !== null && cursor.isAtEnd ? shownDigest(digest) : null
}
