// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import { type ByteBudget, Held } from '../bytes/byte-budget.ts'
import { budgetLimits, nodeLimits } from '../bytes/limits.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'
import { bytesOf, compact, type Entry } from './entry.ts'

/** What an entry takes beside its bytes and its key. */
const overheadBytes = 512

/** The part of the memory for answers that are not final, of which there are many, and all are of use for a moment. */
const passingShare = 3 / 16

/**
 * Answers in the memory of the process, up to a number of bytes. The least recently used go first. Final ones have
 * their own part, so that questions about the latest block do not drive them out. Two keys of one hash are rare, and
 * the later stays; in a map of texts, V8 would make each unique.
 */
export class MemoryStore {
  readonly #final: LRUCache<number, Entry>
  readonly #passing: LRUCache<number, Entry>
  readonly #maxEntryBytes: number
  /** Copies that are being made. */
  readonly #copies: Held
  /** Entries that went for lack of room. */
  evictions = 0

  /** @param budget of the process, of which copies take a part until they are entries */
  constructor(maxBytes: number, budget: ByteBudget) {
    this.#copies = new Held(budget)
    const leastRecent = (share: number) =>
      new LRUCache<number, Entry>({
        maxSize: Math.max(1, Math.floor(maxBytes * share)),
        dispose: (_entry, _key, reason) => {
          if (reason === 'evict') this.evictions += 1
        },
      })
    this.#passing = leastRecent(passingShare)
    this.#final = leastRecent(1 - passingShare)
    // One answer must not drive out most others.
    this.#maxEntryBytes = Math.min(maxBytes / 16, nodeLimits.wholeBytes)
  }

  get bytes(): number {
    return this.#final.calculatedSize + this.#passing.calculatedSize
  }

  get count(): number {
    return this.#final.size + this.#passing.size
  }

  /** @param mayBeFinal else it need not be looked for there */
  get(key: string, hash: number, mayBeFinal = true): Entry | undefined {
    const final = mayBeFinal ? this.#final.get(hash) : undefined
    if (final?.key === key) return final
    const passing = this.#passing.get(hash)
    return passing?.key === key ? passing : undefined
  }

  /** @returns whether there is room for one of its size */
  set(hash: number, entry: Entry): boolean {
    const { key, answer } = entry
    const size = answer.body.length + key.length + overheadBytes
    if (size > this.#maxEntryBytes) return false
    const body = compact(bytesOf(answer))
    const store = entry.head < 0 ? this.#final : this.#passing
    store.set(hash, { ...entry, answer: { ...answer, body } }, { size })
    return true
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
