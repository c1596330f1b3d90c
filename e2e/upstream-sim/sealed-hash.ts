// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest, type Hex, toData } from './hex.ts'

/** Where in the chain a hash belongs. A block has no index. */
export interface Place {
  readonly branch: number
  readonly height: number
  readonly index: number | null
}

const tagBytes = 18
const noIndex = 0xffff

/**
 * Hashes from which the chain can tell the place that they stand for. A seed therefore names a chain
 * of any length without storing it, and two processes with one seed serve the same chain.
 * The first 18 bytes are a digest of the place; the other 14 are the place, masked by that digest.
 */
export class SealedHashes {
  readonly #seed: string

  constructor(seed: string) {
    this.#seed = seed
  }

  seal(place: Place): Hex {
    const sealed = Buffer.alloc(32)
    this.#tag(place).copy(sealed)
    sealed.writeUIntBE(place.height, tagBytes, 6)
    sealed.writeUIntBE(place.branch, tagBytes + 6, 6)
    sealed.writeUInt16BE(place.index ?? noIndex, tagBytes + 12)
    return toData(this.#mask(sealed))
  }

  /** The place of a hash, or null when this chain did not make it. */
  open(hash: string): Place | null {
    if (!/^0x[0-9a-f]{64}$/i.test(hash)) return null
    const given = Buffer.from(hash.slice(2), 'hex')
    const tag = Buffer.from(given.subarray(0, tagBytes))
    const plain = this.#mask(given)
    const index = plain.readUInt16BE(tagBytes + 12)
    const place = {
      height: plain.readUIntBE(tagBytes, 6),
      branch: plain.readUIntBE(tagBytes + 6, 6),
      index: index === noIndex ? null : index,
    }
    return tag.equals(this.#tag(place)) ? place : null
  }

  #tag(place: Place): Buffer {
    const index = place.index ?? noIndex
    return digest(this.#seed, 'hash', place.branch, place.height, index).subarray(0, tagBytes)
  }

  #mask(bytes: Buffer): Buffer {
    const mask = digest(this.#seed, 'mask', bytes.toString('hex', 0, tagBytes))
    for (let at = tagBytes; at < bytes.length; at++) bytes[at] = bytes[at]! ^ mask[at - tagBytes]!
    return bytes
  }
}
