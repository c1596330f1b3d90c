// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { graceMs, type StoredClaim, type SessionHeld } from '../redis/shared-store.ts'

/** What an entry takes beside its bytes and its key. */
const overheadBytes = 512
/** The part of the memory for claims and counters, which answers do not drive out. */
const claimShare = 1 / 8
/** No answer that is not final is kept for longer. */
const counterMs = 48 * 3_600_000

/** What the cache service keeps, up to a number of bytes: answers, the least recently used of which go, and claims. */
export class CacheServiceStore {
  readonly #answers: LRUCache<string, Uint8Array>
  readonly #claims: LRUCache<string, Uint8Array>
  /** Claims do not outlive the process, so each process is its own generation. */
  readonly #generation: string
  readonly #clock: Clock
  readonly #graceMs: number
  #closedUntilMs: number
  /** Answers that went for lack of room. */
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

  /** @returns the claim that stands already. @throws RangeError when there is no room */
  claim(key: string, value: Uint8Array, ttlMs: number): StoredClaim {
    const standing = this.#claims.get(key)
    if (standing) return { value: standing }
    const [copy, options] = ofEntry(key, value, ttlMs)
    const { calculatedSize, maxSize } = this.#claims
    if (calculatedSize + options.size > maxSize) throw new RangeError('no room for another claim')
    this.#claims.set(key, copy, options)
    return {}
  }

  /** One step of a sticky session, as cache.proto defines it. @throws RangeError if the store is full */
  session(key: string, known: string, value?: Uint8Array, ttlMs = 0): SessionHeld {
    const nowMs = this.#clock.nowMs()
    const [generation, isOpen] = [this.#generation, nowMs >= this.#closedUntilMs]
    const restores = known === '' && value !== undefined
    if (restores && !isOpen) this.#closedUntilMs = nowMs + this.#graceMs
    else if (!restores && !(isOpen && known === generation)) return { generation, isOpen: false }
    const held = this.get(key)
    const isOlder = restores && !isOpen && (held.ttlMs ?? 0) < ttlMs
    if (!value || (held.value && !isOlder)) return { generation, isOpen, ...held }
    this.#claims.delete(key)
    this.claim(key, value, ttlMs)
    return { generation, isOpen }
  }

  /** @param value deletes a claim of this value alone */
  delete(key: string, value: Uint8Array | undefined): void {
    const standing = this.#claims.get(key)
    if (value && Buffer.compare(standing ?? none, value) !== 0) return
    this.#claims.delete(key)
    this.#answers.delete(key)
  }

  counter(key: string): number {
    return Number(Buffer.from(this.#claims.get(key) ?? none).toString())
  }

  /** @throws RangeError when there is no room */
  increment(key: string): number {
    const count = this.counter(key) + 1
    // Of one length: there is room where the last count was.
    const value = Buffer.from(String(count).padStart(16))
    this.#claims.delete(key)
    this.claim(key, value, counterMs)
    return count
  }
}

const none = new Uint8Array(0)

/** A copy of a value, for it is a part of a longer buffer, with its time and its size. */
function ofEntry(key: string, value: Uint8Array, ttl: number) {
  if (!(ttl >= 1)) throw new Error('ttl_ms must be 1 or more')
  return [new Uint8Array(value), { ttl, size: key.length + value.length + overheadBytes }] as const
}
