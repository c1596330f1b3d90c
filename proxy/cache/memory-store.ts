// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { budgetLimits, nodeLimits } from '../bytes/limits.ts'
import { Ring } from '../bytes/ring.ts'
import { type Key, textOf } from '../relay/call-key.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'
import { type Answer, bytesOf, compact, type Entry, maxShortBytes } from './entry.ts'

/** What an entry takes beside its bytes and its key. */
const overheadBytes = 512

/** The part of the memory for short answers that are not final, of which there are many, and all are of use for a moment. */
const passingShare = 1 / 8

/** What is the same for many entries. */
type Common = Omit<Entry & Answer, 'expiresMs' | 'answer' | 'body' | 'id'> & Pick<Key, 'start'>

/** So many of them are looked through for one that is like a new one. */
const rememberedCommons = 16

/** An entry under the text of its key. */
type Named = Entry & { readonly key: string }

/**
 * Answers in the memory of the process, up to a number of bytes. The least recently used go first; questions about the
 * latest block have their own part, and drive out one another. Two keys of one hash are rare, and the later stays; in
 * a map of texts, V8 would make each unique.
 */
export class MemoryStore {
  readonly #passing: Ring<Common>
  readonly #others: LRUCache<number, Named>
  readonly #maxEntryBytes: number
  /** The last different ones. */
  readonly #recent: Common[] = []
  /** Copies that are being made. */
  readonly #copies: Reservation
  #evictions = 0

  /** @param budget of the process, of which copies take a part until they are entries */
  constructor(maxBytes: number, budget: ByteBudget) {
    this.#copies = new Reservation(budget)
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

  get(key: Key): Entry | undefined {
    const other = this.#others.get(key.hash)
    if (other && other.key === textOf(key)) return other
    const kept = this.#passing.get(key)
    if (kept?.value.start !== key.start) return undefined
    const { body, value } = kept
    const [expiresMs, start, end] = kept.numbers
    const answer = { ...value, body, id: start < 0 ? null : { start, end } }
    return { ...value, expiresMs, answer }
  }

  /** @returns whether there is room for one of its size */
  set(key: Key, entry: Entry): boolean {
    const { answer, expiresMs, head } = entry
    const size = answer.body.length + key.start.length + key.end + overheadBytes
    if (size > this.#maxEntryBytes) return false
    const body = bytesOf(answer)
    const { id } = answer
    const isPassing =
      head >= 0 &&
      body.length <= maxShortBytes &&
      this.#passing.set(
        key,
        body,
        this.#commonOf(key, entry),
        expiresMs,
        id?.start ?? -1,
        id?.end ?? -1,
      )
    if (isPassing) this.#others.delete(key.hash)
    else {
      const named = { ...entry, key: textOf(key), answer: { ...answer, body: compact(body) } }
      this.#others.set(key.hash, named, { size })
    }
    return true
  }

  /** One object for all entries that are alike: thousands a second would each be moved by the collector. */
  #commonOf({ start }: Key, { answer, head, ageClass, branch, isEmpty }: Entry): Common {
    const { upstream, latestBlock, headers, status, trailers, refusal } = answer
    const recent = this.#recent
    for (const each of recent)
      if (
        each.upstream === upstream &&
        each.start === start &&
        each.head === head &&
        each.latestBlock === latestBlock &&
        each.headers === headers &&
        each.ageClass === ageClass &&
        each.branch === branch &&
        each.isEmpty === isEmpty &&
        each.status === status &&
        each.trailers === trailers &&
        each.refusal === refusal
      )
        return each
    const ofAnswer = { upstream, latestBlock, headers, status, trailers, refusal }
    const common = { start, head, ageClass, branch, isEmpty, ...ofAnswer }
    recent.push(common)
    if (recent.length > rememberedCommons) recent.shift()
    return common
  }

  /** Forgets the answer to a call. */
  delete({ hash }: Key): void {
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
