// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import { type ByteBudget, Held } from '../bytes/byte-budget.ts'
import { budgetLimits, nodeLimits } from '../bytes/limits.ts'
import { Ring } from '../bytes/ring.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'
import { type Answer, bytesOf, compact, type Entry, maxShortBytes } from './entry.ts'

/** What an entry takes beside its bytes and its key. */
const overheadBytes = 512

/** The part of the memory for short answers that are not final, of which there are many, and all are of use for a moment. */
const passingShare = 1 / 8

/** What is the same for many entries. */
type Common = Omit<Entry & Answer, 'key' | 'expiresMs' | 'answer' | 'body' | 'id'>

/**
 * Answers in the memory of the process, up to a number of bytes. The least recently used go first; questions about the
 * latest block have their own part, and drive out one another. Two keys of one hash are rare, and the later stays; in
 * a map of texts, V8 would make each unique.
 */
export class MemoryStore {
  readonly #passing: Ring<Common>
  readonly #others: LRUCache<number, Entry>
  readonly #maxEntryBytes: number
  /** Copies that are being made. */
  readonly #copies: Held
  #evictions = 0

  /** @param budget of the process, of which copies take a part until they are entries */
  constructor(maxBytes: number, budget: ByteBudget) {
    this.#copies = new Held(budget)
    this.#passing = new Ring(maxBytes * passingShare)
    this.#others = new LRUCache({
      maxSize: Math.max(1, Math.floor(maxBytes * (1 - passingShare))),
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') this.#evictions += 1
      },
    })
    // One answer must not drive out most others.
    this.#maxEntryBytes = Math.min(maxBytes / 16, nodeLimits.wholeBytes)
  }

  get bytes(): number {
    return this.#others.calculatedSize + this.#passing.bytes
  }

  get count(): number {
    return this.#others.size + this.#passing.count
  }

  /** Entries that went for lack of room. */
  get evictions(): number {
    return this.#evictions + this.#passing.evictions
  }

  get(key: string, hash: number): Entry | undefined {
    const other = this.#others.get(hash)
    if (other?.key === key) return other
    const kept = this.#passing.get(key, hash)
    if (kept === undefined) return undefined
    const { body, value } = kept
    const [expiresMs, start, end] = kept.numbers
    const answer = { ...value, body, id: start < 0 ? null : { start, end } }
    return { ...value, key, expiresMs, answer }
  }

  /** @returns whether there is room for one of its size */
  set(hash: number, entry: Entry): boolean {
    const { key, answer, expiresMs, head, branch, ageClass } = entry
    const size = answer.body.length + key.length + overheadBytes
    if (size > this.#maxEntryBytes) return false
    const body = bytesOf(answer)
    const { id, status, headers, trailers, upstream, refusal, latestBlock } = answer
    const ofAnswer = { upstream, latestBlock, headers, status, trailers, refusal }
    const value = { head, ageClass, branch, ...ofAnswer }
    const numbers = [expiresMs, id?.start ?? -1, id?.end ?? -1] as const
    const isPassing =
      head >= 0 &&
      body.length <= maxShortBytes &&
      this.#passing.set(key, hash, { body, value, numbers })
    if (isPassing) this.#others.delete(hash)
    else this.#others.set(hash, { ...entry, answer: { ...answer, body: compact(body) } }, { size })
    return true
  }

  /** Forgets the answer to a call. */
  delete(hash: number): void {
    this.#others.delete(hash)
    this.#passing.delete(hash)
  }

  /**
   * Copies an answer that streams while its client reads it, which may take as long as it likes.
   * @param over gets all of it at the end, or null where it broke off or there is no room any more
   * @returns false where there is none at the beginning
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
