// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import { type ByteBudget, Reservation } from '../bytes/byte-budget.ts'
import { budgetLimits, nodeLimits } from '../bytes/limits.ts'
import { Ring } from '../bytes/ring.ts'
import { type Key, textOf } from '../relay/call-key.ts'
import type { StreamedAnswer } from '../relay/streamed-answer.ts'
import { type Answer, bytesOf, compact, type Entry, maxShortBytes } from './entry.ts'

/** Memory of an entry in addition to its bytes and its key. */
const overheadBytes = 512

/** Share of the memory for short answers that are not final. They are many and short-lived. */
const passingShare = 1 / 8

/** Fields that many entries have in common. */
type Common = Omit<Entry & Answer, 'expiresMs' | 'answer' | 'body' | 'id'> & Pick<Key, 'start'>

/** Number of recent shared objects to compare with. */
const rememberedCommons = 16

/** An entry with the text of its key. */
type Named = Entry & { readonly key: string }

/**
 * In-memory store of answers with a size limit. It evicts the least recently used entries first.
 * Short-lived entries have their own share of the memory and evict only each other. Keys rarely
 * have equal hashes; if they do, the later one stays. A map by text would make V8 internalize each
 * key.
 */
export class MemoryStore {
  readonly #passing: Ring<Common>
  readonly #others: LRUCache<number, Named>
  readonly #maxEntryBytes: number
  /** The last distinct shared objects. */
  readonly #recent: Common[] = []
  /** Memory of copies in progress. */
  readonly #copies: Reservation
  #evictions = 0

  /** @param budget memory budget of the process, which also limits copies in progress */
  constructor(maxBytes: number, budget: ByteBudget) {
    this.#copies = new Reservation(budget)
    this.#passing = new Ring(maxBytes * passingShare)
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
    const other = this.#others.get(key.hash)
    if (other && other.key === textOf(key)) return other
    const item = this.#passing.get(key)
    if (item?.value.start !== key.start) return undefined
    const { body, value } = item
    const [expiresMs, start, end] = item.numbers
    const answer = { ...value, body, id: start < 0 ? null : { start, end } }
    return { ...value, expiresMs, answer }
  }

  /** @returns false if the entry is too large */
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

  /** Shares one object among similar entries, which relieves the garbage collector. */
  #commonOf({ start }: Key, { answer, head, ageClass, branch, isEmpty, ttlMs }: Entry): Common {
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
        each.ttlMs === ttlMs &&
        each.status === status &&
        each.trailers === trailers &&
        each.refusal === refusal
      )
        return each
    const ofAnswer = { upstream, latestBlock, headers, status, trailers, refusal }
    const common = { start, head, ageClass, branch, isEmpty, ttlMs, ...ofAnswer }
    recent.push(common)
    if (recent.length > rememberedCommons) recent.shift()
    return common
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
