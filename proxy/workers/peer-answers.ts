// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { SharedEntry } from '../cache/entry-codec.ts'
import {
  type AnswerSharing,
  type Found,
  leaseMs,
  type SharedFigures,
} from '../cache/shared-cache.ts'
import type { Clock } from '../clock/clock.ts'
import type { Peers, Pull } from './messages.ts'

/** Number of keys whose owner is remembered, and for how long. */
const maxOwners = 200_000
const ownerMs = 10 * 60_000
/** Number of calls in flight for which other workers may wait. */
const maxInFlight = 10_000
/** Interval of announcements. A message costs as much as 20 keys in it. */
const announceMs = 2
/** Longer answers are not passed to another worker. */
const maxEntryBytes = 2 * 1024 * 1024

/** Memory of an entry in addition to its bytes and its key. */
const entryBytes = 1024

type Pulled = (entry: SharedEntry | null) => void
const noPulls: readonly Pulled[] = []

/**
 * The answers of all workers. A worker announces each key that it fetches, and the others pull the
 * answer from it when a client asks for it: most answers are read at one worker alone, and storing
 * all of them in one place would cost as much as the calls.
 */
export class PeerAnswers {
  readonly #peers: Peers
  readonly #clock: Clock
  /** The worker that fetched a key last, by the hash of the key. A collision costs one pull. */
  readonly #owners = new LRUCache<number, number>({ max: maxOwners, ttl: ownerMs })
  readonly #stored: LRUCache<string, SharedEntry>
  /** The calls in flight, each with the workers that wait for it. */
  readonly #inFlight = new Map<string, readonly Pulled[]>()
  readonly #pulls = new Map<number, { readonly from: number; readonly pulled: Pulled }>()
  readonly #scopes = new Map<string, { reorgs: number; readonly onReorg: () => void }>()
  /** The workers have no store that could fail. */
  readonly figures: SharedFigures = { failures: 0, broken: 0 }
  #fetched: number[] = []
  #lastPull = 0

  constructor(peers: Peers, clock: Clock, maxBytes: number) {
    this.#peers = peers
    this.#clock = clock
    this.#stored = new LRUCache({ maxSize: Math.max(1, maxBytes) })
    peers.listen((from, message) => {
      if (message.kind === 'fetched') for (const key of message.hashes) this.#owners.set(key, from)
      if (message.kind === 'pull') this.#answerPull(from, message)
      if (message.kind === 'pulled') this.#settle(message.id, message.entry)
      if (message.kind === 'reorged') this.#reorged(message.scope)
      if (message.kind === 'gone') this.#forget(from)
    })
  }

  /** @param onReorg called when another worker saw a reorg */
  share(scope: string, _: Clock, onReorg: () => void): AnswerSharing {
    const own = this.#scopes.getOrInsertComputed(scope, () => ({ reorgs: 0, onReorg }))
    return {
      figures: this.figures,
      lookUp: (key, adopt, mayWait) => this.#lookUp(`${scope} ${key}`, adopt, mayWait, own),
      keep: async (key, entry) => this.#keep(`${scope} ${key}`, entry, own),
      drop: async (key) => this.#drop(`${scope} ${key}`),
      reorged: async () => {
        own.reorgs += 1
        this.#peers.send(null, { kind: 'reorged', scope })
      },
    }
  }

  async #lookUp<T>(
    key: string,
    adopt: (entry: SharedEntry) => T | null,
    mayWait: boolean,
    { reorgs }: { readonly reorgs: number },
  ): Promise<Found<T>> {
    const hash = crc32(key)
    const owner = this.#owners.get(hash)
    const stored = owner === undefined ? null : await this.#pull(owner, key, mayWait)
    const entry = stored && adopt({ ...stored, reorgs })
    // Only these calls end with `keep` or `drop`, so that no other worker waits in vain.
    if (entry === null && mayWait) {
      const [oldest] = this.#inFlight.keys()
      if (this.#inFlight.size >= maxInFlight && oldest !== undefined)
        this.#settleWaiters(oldest, null)
      this.#inFlight.set(key, this.#inFlight.get(key) ?? noPulls)
      this.#announce(hash)
    }
    return { entry, reorgs }
  }

  #announce(hash: number): void {
    if (this.#fetched.push(hash) > 1) return
    this.#clock.after(announceMs, () => {
      this.#peers.send(null, { kind: 'fetched', hashes: this.#fetched })
      this.#fetched = []
    })
  }

  #pull(owner: number, key: string, mayWait: boolean): Promise<SharedEntry | null> {
    const { promise, resolve } = Promise.withResolvers<SharedEntry | null>()
    const id = (this.#lastPull += 1)
    const cancel = this.#clock.after(leaseMs, () => this.#settle(id, null))
    const pulled: Pulled = (entry) => {
      cancel()
      resolve(entry)
    }
    this.#pulls.set(id, { from: owner, pulled })
    this.#peers.send(owner, { kind: 'pull', id, key, mayWait })
    return promise
  }

  #settle(id: number, entry: SharedEntry | null): void {
    const pull = this.#pulls.get(id)
    this.#pulls.delete(id)
    pull?.pulled(entry)
  }

  /** Answers a pull, once the call is over if it is in flight. */
  #answerPull(to: number, { id, key, mayWait }: Pull): void {
    const pulled: Pulled = (entry) => this.#peers.send(to, { kind: 'pulled', id, entry })
    const waiting = mayWait ? this.#inFlight.get(key) : undefined
    if (waiting) this.#inFlight.set(key, [...waiting, pulled])
    else pulled(this.#stored.get(key) ?? null)
  }

  #keep(key: string, entry: SharedEntry, { reorgs }: { readonly reorgs: number }): void {
    const size = key.length + entry.body.length + entryBytes
    // A reorg since the request was sent may have replaced its block.
    const isOld = entry.head >= 0 && entry.reorgs !== reorgs
    if (size > maxEntryBytes || isOld) return this.#settleWaiters(key, null)
    this.#stored.set(key, entry, { size, ttl: Math.ceil(entry.ttlMs) })
    if (!this.#inFlight.has(key)) this.#announce(crc32(key))
    this.#settleWaiters(key, entry)
  }

  #drop(key: string): void {
    this.#stored.delete(key)
    this.#settleWaiters(key, null)
  }

  #settleWaiters(key: string, entry: SharedEntry | null): void {
    const waiting = this.#inFlight.get(key) ?? noPulls
    this.#inFlight.delete(key)
    for (const pulled of waiting) pulled(entry)
  }

  #reorged(scope: string): void {
    const own = this.#scopes.get(scope)
    if (!own) return
    own.reorgs += 1
    for (const [key, { head }] of this.#stored.entries())
      if (head >= 0 && key.startsWith(`${scope} `)) this.#stored.delete(key)
    own.onReorg()
  }

  /** A worker has ended, and answers no pull. */
  #forget(worker: number): void {
    for (const [key, owner] of this.#owners.entries())
      if (owner === worker) this.#owners.delete(key)
    for (const [id, { from }] of this.#pulls) if (from === worker) this.#settle(id, null)
  }
}
