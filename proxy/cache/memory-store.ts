// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { budgetLimits, nodeLimits } from '../bytes/limits.ts'
import { type Key, textOf } from '../relay/call-key.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'
import { compact, type Entry, maxShortBytes } from './entry.ts'

/** Memory of an entry in addition to its bytes and its key. */
const overheadBytes = 512

/** Share of the memory for short answers that are not final. They are many and short-lived. */
const passingShare = 1 / 8

/** An entry with the text of its key, and its size. */
type Named = Entry & { readonly key: string; readonly size: number }

/**
 * Entries by hash, in two generations. Once the young one is full, it becomes the old one, and the
 * previous old one is dropped as a whole: half the cost of evicting entries one by one. Reading an
 * old entry makes it young again.
 */
class Generations {
  readonly #maxBytes: number
  #young = new Map<number, Named>()
  #youngBytes = 0
  #old = new Map<number, Named>()
  #oldBytes = 0
  /** Number of entries dropped for lack of room. */
  evictions = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes / 2
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes
  }

  get count(): number {
    return this.#young.size + this.#old.size
  }

  get(hash: number): Named | undefined {
    const young = this.#young.get(hash)
    const old = young ? undefined : this.#old.get(hash)
    if (old) {
      this.delete(hash)
      this.set(hash, old)
    }
    return young ?? old
  }

  /** The hash must be new. */
  set(hash: number, named: Named): void {
    this.#young.set(hash, named)
    this.#youngBytes += named.size
    if (this.#youngBytes <= this.#maxBytes) return
    this.evictions += this.#old.size
    this.#old = this.#young
    this.#oldBytes = this.#youngBytes
    this.#young = new Map()
    this.#youngBytes = 0
  }

  delete(hash: number): void {
    this.#youngBytes -= this.#young.get(hash)?.size ?? 0
    this.#oldBytes -= this.#old.get(hash)?.size ?? 0
    this.#young.delete(hash)
    this.#old.delete(hash)
  }
}

/**
 * In-memory store of answers with a size limit. It evicts the least recently used entries first.
 * Short-lived entries have their own share of the memory and evict only each other. Keys rarely
 * have equal hashes; if they do, the later one stays. A map by text would make V8 internalize each
 * key.
 */
export class MemoryStore {
  readonly #passing: Generations
  readonly #others: LRUCache<number, Named>
  readonly #maxEntryBytes: number
  /** Memory of copies in progress. */
  readonly #copies: Reservation
  #evictions = 0

  /** @param budget memory budget of the process, which also limits copies in progress */
  constructor(maxBytes: number, budget: ByteBudget) {
    this.#copies = new Reservation(budget)
    this.#passing = new Generations(maxBytes * passingShare)
    this.#others = new LRUCache({
      maxSize: Math.max(1, Math.floor(maxBytes * (1 - passingShare))),
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') this.#evictions += 1
      },
    })
    // One answer must not evict most others.
    this.#maxEntryBytes = Math.min(maxBytes / 16, nodeLimits.wholeBytes)
  }

  get bytes(): number {
    return this.#others.calculatedSize + this.#passing.bytes
  }

  get count(): number {
    return this.#others.size + this.#passing.count
  }

  /** Number of evicted entries. */
  get evictions(): number {
    return this.#evictions + this.#passing.evictions
  }

  get(key: Key): Entry | undefined {
    const named = this.#passing.get(key.hash) ?? this.#others.get(key.hash)
    return named && named.key === textOf(key) ? named : undefined
  }

  /** @returns false if the entry is too large */
  set(key: Key, entry: Entry): boolean {
    const { body } = entry.answer
    const size = body.length + key.start.length + key.end + overheadBytes
    if (size > this.#maxEntryBytes) return false
    const answer = { ...entry.answer, body: compact(body) }
    const named = { ...entry, answer, key: textOf(key), size }
    const isPassing = entry.head >= 0 && body.length <= maxShortBytes
    this.delete(key)
    if (isPassing) this.#passing.set(key.hash, named)
    else this.#others.set(key.hash, named, { size })
    return true
  }

  delete({ hash }: Key): void {
    this.#others.delete(hash)
    this.#passing.delete(hash)
  }

  /**
   * Copies a streamed answer while its client reads it, at any speed.
   * @param over receives all bytes at the end, or null if the stream failed or the budget is
   * exhausted
   * @returns false if there is no memory for the copy
   */
  copy(answer: StreamedAnswer, over: (bytes: Uint8Array | null) => void): boolean {
    const copies = this.#copies
    const { budget } = copies
    const maxCopiesBytes = budget.maxBytes * budgetLimits.copyShare
    const hasRoom = (bytes: number) =>
      bytes <= this.#maxEntryBytes && !budget.isTight && copies.heldBytes < maxCopiesBytes
    if (!hasRoom(answer.length ?? 0)) return false
    const pieces: Uint8Array[] = []
    let bytes = 0
    answer.copy = (piece) => {
      if (piece instanceof Uint8Array && hasRoom(bytes + piece.length)) {
        bytes += piece.length
        copies.hold(piece.length)
        return void pieces.push(piece)
      }
      answer.copy = null
      copies.hold(-bytes)
      over(piece === null ? Buffer.concat(pieces) : null)
    }
    return true
  }
}
