// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ItemCursor } from './item-cursor.ts'
import { bareHash, hashAt, spellsHash } from './values.ts'

/** Below this many alternatives comparing each is faster than making a string to look up. */
const fewAlternatives = 8

/** Alternatives for one value, as `bareHash`. */
class Alternatives {
  readonly #all: ReadonlySet<string>

  constructor(all: readonly string[]) {
    this.#all = new Set(all.map(bareHash))
  }

  hold(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#all.size > fewAlternatives) {
      const hash = hashAt(bytes, start, end)
      return hash !== null && this.#all.has(hash)
    }
    for (const each of this.#all) if (spellsHash(bytes, start, end, each)) return true
    return false
  }
}

/** The address and topic part of a filter of `eth_getLogs`. */
export class LogFilter {
  readonly #addresses: Alternatives | null
  readonly #topics: readonly (Alternatives | null)[]

  /**
   * `filter` is as the client wrote it. What is written in another form than Ethereum's restricts
   * nothing here: the node says what is wrong with it.
   */
  constructor(filter: unknown) {
    const { address, topics } = (
      typeof filter === 'object' && filter !== null ? filter : {}
    ) as Record<string, unknown>
    this.#addresses = alternatives(address)
    const restricted = Array.isArray(topics) ? topics.map(alternatives) : []
    this.#topics = restricted.slice(0, restricted.findLastIndex((each) => each !== null) + 1)
  }

  takesAddress(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#addresses === null || this.#addresses.hold(bytes, start, end)
  }

  /** `start` is that of the list of topics; negative where the log has none. */
  takesTopics(bytes: Uint8Array, start: number): boolean {
    if (this.#topics.length === 0) return true
    if (start < 0 || bytes[start] !== 0x5b) return false
    const cursor = new ItemCursor(bytes, start)
    for (const wanted of this.#topics) {
      // Also a place without a wish needs a topic when one behind it has one.
      if (!cursor.next()) return false
      const from = cursor.start
      cursor.skip()
      if (wanted && !wanted.hold(bytes, from, cursor.end)) return false
    }
    return true
  }
}

/** Null for no restriction: absent, null, an empty list, or a list that holds null. */
function alternatives(value: unknown): Alternatives | null {
  if (typeof value === 'string') return new Alternatives([value])
  if (!Array.isArray(value) || value.length === 0) return null
  return value.every((each) => typeof each === 'string') ? new Alternatives(value) : null
}
