// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../clock/clock.ts'
import type { Random } from '../../clock/random.ts'
import { graceMs, type StoredClaim, type SessionReply } from '../shared-store.ts'

/** Memory of an entry in addition to its bytes and its key. */
const overheadBytes = 512
/** Share of the memory for claims and counters, which answers cannot evict. */
const claimShare = 1 / 8
/** Answers about blocks that are not final are never retained for longer than this. */
const counterMs = 48 * 3_600_000

/** Bounded storage of the cache service: claims, and answers evicted least recently used first. */
export class CacheServiceStore {
  readonly #answers: LRUCache<string, Uint8Array>
  readonly #claims: LRUCache<string, Uint8Array>
  /** Claims do not outlive the process, so each process is its own generation. */
  readonly #generation: string
  readonly #clock: Clock
  readonly #graceMs: number
  #closedUntilMs: number
  /** Number of answers evicted to make room. */
  evictions = 0

  constructor(maxBytes: number, clock: Clock, random: Random, grace = graceMs) {
    this.#generation = String(random.next())
    this.#clock = clock
    this.#graceMs = grace
    this.#closedUntilMs = clock.nowMs() + grace
    const maxClaimBytes = Math.max(1, Math.floor(maxBytes * claimShare))
    this.#claims = new LRUCache({ maxSize: maxClaimBytes, ttlAutopurge: true })
    this.#answers = new LRUCache({
      maxSize: Math.max(1, maxBytes - maxClaimBytes),
      dispose: (_value, _key, reason) => {
        if (reason === 'evict') this.evictions += 1
      },
    })
  }

  get bytes(): number {
    return this.#answers.calculatedSize + this.#claims.calculatedSize
  }

  get count(): number {
    return this.#answers.size + this.#claims.size
  }

  get(key: string): StoredClaim {
    const holding = this.#claims.has(key) ? this.#claims : this.#answers
    const value = holding.get(key)
    return value ? { value, ttlMs: Math.ceil(holding.getRemainingTTL(key)) } : {}
  }

  set(key: string, value: Uint8Array, ttlMs: number): void {
    this.#answers.set(key, ...ofEntry(key, value, ttlMs))
  }

  /** @returns the existing claim, if any. @throws RangeError if there is no room */
  claim(key: string, value: Uint8Array, ttlMs: number): StoredClaim {
    const existing = this.#claims.get(key)
    if (existing) return { value: existing }
    const [copy, options] = ofEntry(key, value, ttlMs)
    const { calculatedSize, maxSize } = this.#claims
    if (calculatedSize + options.size > maxSize) throw new RangeError('no room for another claim')
    this.#claims.set(key, copy, options)
    return {}
  }

  /** One step of a sticky session; see cache.proto. @throws RangeError if the store is full */
  session(key: string, known: string, value?: Uint8Array, ttlMs = 0): SessionReply {
    const nowMs = this.#clock.nowMs()
    const [generation, isOpen] = [this.#generation, nowMs >= this.#closedUntilMs]
    const restores = known === '' && value !== undefined
    if (restores && !isOpen) this.#closedUntilMs = nowMs + this.#graceMs
    else if (!restores && !(isOpen && known === generation)) return { generation, isOpen: false }
    const stored = this.get(key)
    const isOlder = restores && !isOpen && (stored.ttlMs ?? 0) < ttlMs
    if (!value || (stored.value && !isOlder)) return { generation, isOpen, ...stored }
    this.#claims.delete(key)
    this.claim(key, value, ttlMs)
    return { generation, isOpen }
  }

  /** @param value deletes a claim only if it has this value */
  delete(key: string, value: Uint8Array | undefined): void {
    const existing = this.#claims.get(key)
    if (value && Buffer.compare(existing ?? none, value) !== 0) return
    this.#claims.delete(key)
    this.#answers.delete(key)
  }

  counter(key: string): number {
    return Number(Buffer.from(this.#claims.get(key) ?? none).toString())
  }

  /** @throws RangeError if there is no room */
  increment(key: string): number {
    const count = this.counter(key) + 1
    // A constant length, so that each count fits in place of the previous one.
    const value = Buffer.from(String(count).padStart(16))
    this.#claims.delete(key)
    this.claim(key, value, counterMs)
    return count
  }
}

const none = new Uint8Array(0)

/** Copies a value out of its larger buffer, with its expiry and size. */
function ofEntry(key: string, value: Uint8Array, ttl: number) {
  if (!(ttl >= 1)) throw new Error('ttl_ms must be 1 or more')
  return [new Uint8Array(value), { ttl, size: key.length + value.length + overheadBytes }] as const
}
