// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Header of each entry, in 8-byte numbers. `before`: position of the slot's previous entry. */
const [before, hashed, size, keyLength, bodyLength, numbers] = [0, 1, 2, 3, 4, 5] as const
const fieldsBytes = 64
/** Each entry takes a multiple of this. */
const unitBytes = 128
const maxCapacity = 256 * 1024 * 1024

/** The first bytes of a key, and its hash. */
export interface RingKey {
  readonly bytes: Uint8Array
  readonly end: number
  readonly hash: number
}

/** The entry stored under a key. */
export interface RingEntry<T> {
  readonly body: Uint8Array
  readonly value: T
  readonly numbers: readonly [number, number, number]
}

/**
 * Stores short bodies by key in one block of memory, and evicts the oldest first. As objects,
 * thousands per second that each live for a second would be moved twice by the garbage collector.
 */
export class Ring<T extends object> {
  readonly #capacity: number
  readonly #bytes: Buffer
  readonly #fields: Float64Array
  readonly #values: (T | undefined)[]
  /** Position of the newest entry of each slot. */
  readonly #newest: Float64Array
  /** Positions only increase; entries before the start are overwritten. */
  #start: number
  #end: number
  count = 0
  /** Number of overwritten entries. */
  evictions = 0

  constructor(maxBytes: number) {
    const units = Math.floor(Math.min(maxBytes, maxCapacity) / unitBytes)
    this.#capacity = this.#start = this.#end = units * unitBytes
    this.#bytes = Buffer.alloc(this.#capacity)
    this.#fields = new Float64Array(this.#bytes.buffer)
    this.#values = Array.from({ length: units })
    this.#newest = new Float64Array(2 ** Math.ceil(Math.log2(units + 1)))
  }

  get bytes(): number {
    return this.#end - this.#start
  }

  get({ bytes, end, hash }: RingKey): RingEntry<T> | undefined {
    const fields = this.#fields
    let position = this.#newest[this.#slotOf(hash)] as number
    while (position >= this.#start) {
      const at = position % this.#capacity
      const field = at / 8
      if (fields[field + hashed] === hash) {
        const keyAt = at + fieldsBytes
        const bodyAt = keyAt + (fields[field + keyLength] as number)
        const endAt = bodyAt + (fields[field + bodyLength] as number)
        if (this.#bytes.compare(bytes, 0, end, keyAt, bodyAt) === 0)
          return {
            body: Buffer.from(this.#bytes.subarray(bodyAt, endAt)),
            value: this.#values[at / unitBytes] as T,
            numbers: [
              fields[field + numbers] as number,
              fields[field + numbers + 1] as number,
              fields[field + numbers + 2] as number,
            ],
          }
      }
      position = fields[field + before] as number
    }
    return undefined
  }

  /**
   * @param value preferably an object that many entries share
   * @param first the first of three numbers to store
   * @returns false if the entry is too long
   */
  set(
    { bytes, end, hash }: RingKey,
    body: Uint8Array,
    value: T,
    first: number,
    second: number,
    third: number,
  ): boolean {
    const length = fieldsBytes + Math.max(bytes.length, end + body.length)
    const entryBytes = Math.ceil(length / unitBytes) * unitBytes
    if (entryBytes > this.#capacity / 4) return false
    const left = this.#capacity - (this.#end % this.#capacity)
    // An entry must be contiguous.
    if (left < entryBytes) this.#take(left)
    const slot = this.#slotOf(hash)
    const position = this.#end
    const at = this.#take(entryBytes)
    const fields = this.#fields
    const field = at / 8
    fields[field + before] = this.#newest[slot] as number
    fields[field + hashed] = hash
    fields[field + keyLength] = end
    fields[field + bodyLength] = body.length
    fields[field + numbers] = first
    fields[field + numbers + 1] = second
    fields[field + numbers + 2] = third
    const keyAt = at + fieldsBytes
    // Copies whole bytes without a subarray view; the body overwrites the excess.
    this.#bytes.set(bytes, keyAt)
    this.#bytes.set(body, keyAt + end)
    this.#values[at / unitBytes] = value
    this.#newest[slot] = position
    return true
  }

  /** Removes the entry under the key with this hash, and possibly others in the same slot. */
  delete(hash: number): void {
    this.#newest[this.#slotOf(hash)] = 0
  }

  /** @returns the position of the reserved memory */
  #take(bytes: number): number {
    const at = this.#end % this.#capacity
    this.#end += bytes
    this.count += 1
    while (this.bytes > this.#capacity) {
      this.#start += this.#fields[(this.#start % this.#capacity) / 8 + size] as number
      this.count -= 1
      this.evictions += 1
    }
    this.#fields[at / 8 + size] = bytes
    return at
  }

  #slotOf(hash: number): number {
    return hash & (this.#newest.length - 1)
  }
}
