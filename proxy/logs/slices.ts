// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { AnswerSharing } from '../cache/shared-cache.ts'
import type { Clock } from '../clock/clock.ts'
import { bytesOf, byPosition, copied, lengthOf, type LogList, type Range } from './log-list.ts'
import { readLogs, sizeOf } from './log-list.ts'

/** Blocks of a slice, the unit of eviction and of the shared store. */
const sliceBlocks = 1_024
/** Slices that a query loads from the shared store. */
const maxLoaded = 64
/** Share of the memory that one query may fill, because it evicts the slices of others. */
const maxShare = 0.25
/** Memory that a log takes in addition to its text. */
const logBytes = 64

/** Some blocks of a slice. */
interface Slice {
  /** 1 for each block whose logs are cached. */
  readonly covered: Uint8Array
  readonly logs: LogList
  /** The upstream that returned the last of them. */
  readonly upstream: string
  /** On the clock's monotonic scale. */
  readonly expiresMs: number
}

/** Cached slices of all chains, by chain, filter and number. */
export type SliceMemory = LRUCache<string, Slice>

export function createSliceMemory(maxBytes: number): SliceMemory {
  return new LRUCache({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    // One slice must not evict most others.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: ({ covered, logs }, key) =>
      key.length + covered.length + lengthOf(logs) + logBytes * logs.length,
  })
}

/** Where the logs of final blocks are cached. */
export interface SliceStore {
  readonly memory: SliceMemory
  /** Null without a shared store. */
  readonly shared: AnswerSharing | null
  readonly clock: Clock
  /** Equal for relays that may share answers. */
  readonly scope: string
  /** Requests in progress by filter. */
  readonly pending: Map<string, Set<Range & { readonly over: Promise<void> }>>
}

/**
 * Logs of one filter in final blocks, in aligned slices. A slice may be partly filled, so a query
 * asks upstreams for exactly the blocks that are missing.
 */
export class Slices {
  readonly filter: string
  readonly #store: SliceStore
  readonly #ttlMs: number
  #addedBytes = 0

  constructor(store: SliceStore, filter: string, ttlMs: number) {
    this.#store = store
    this.filter = filter
    this.#ttlMs = ttlMs
  }

  /** The cached logs from a block on, within its slice; null if that block is missing. */
  at({ from, to }: Range): { to: number; logs: LogList; upstream: string } | null {
    const slice = this.#get(sliceOf(from))
    let end = from
    while (end <= to && slice?.covered[end - startOf(sliceOf(from))]) end++
    if (!slice || end === from) return null
    const logs = slice.logs.filter(({ block }) => block >= from && block < end)
    return { to: end - 1, logs, upstream: slice.upstream }
  }

  /** The first cached block of a range; the block after it if none is. */
  next({ from, to }: Range): number {
    for (let at = sliceOf(from); at <= sliceOf(to); at++) {
      const found = this.#get(at)?.covered.indexOf(1, Math.max(0, from - startOf(at))) ?? -1
      if (found >= 0) return Math.min(startOf(at) + found, to + 1)
    }
    return to + 1
  }

  /** @returns false if the logs are too dense or too many to be cached */
  add(range: Range, logs: LogList, upstream: string): boolean {
    const { memory, clock } = this.#store
    const bytes = lengthOf(logs)
    if ((bytes / sizeOf(range)) * sliceBlocks > memory.maxEntrySize) return false
    this.#addedBytes += bytes
    if (this.#addedBytes > memory.maxSize * maxShare) return false
    const bySlice = Map.groupBy(logs, ({ block }) => sliceOf(block))
    for (let at = sliceOf(range.from); at <= sliceOf(range.to); at++) {
      const old = this.#get(at)
      const covered = old ? old.covered.slice() : new Uint8Array(sliceBlocks)
      covered.fill(1, Math.max(0, range.from - startOf(at)), range.to + 1 - startOf(at))
      const others = old?.logs.filter(({ block }) => block < range.from || block > range.to) ?? []
      const own = [...others, ...copied(bySlice.get(at) ?? []).logs].toSorted(byPosition)
      const expiresMs = Math.min(old?.expiresMs ?? Infinity, clock.nowMs() + this.#ttlMs)
      memory.set(this.#keyOf(at), { covered, logs: own, upstream, expiresMs })
      if (!covered.includes(0)) this.#share(at, own, upstream)
    }
    return true
  }

  /** Loads whole slices that other replicas have stored. */
  async load({ from, to }: Range): Promise<void> {
    const { shared, clock, memory } = this.#store
    if (!shared) return
    const length = Math.min(sliceOf(to) - sliceOf(from) + 1, maxLoaded)
    const loads = Array.from({ length }, async (_, index) => {
      const at = sliceOf(from) + index
      const range = { from: startOf(at), to: startOf(at + 1) - 1 }
      if (this.at(range)?.to === range.to) return
      const found = await shared.lookUp(
        this.#keyOf(at),
        ({ body, upstream, ttlMs, storedWallMs }) => {
          // Others can write to the store, so the logs are read like an answer.
          const logs = readLogs(Buffer.from(body as Uint8Array), range.from, range.to)
          const expiresMs = clock.nowMs() + ttlMs - (clock.wallMs() - storedWallMs)
          const covered = new Uint8Array(sliceBlocks).fill(1)
          return logs && { covered, logs, upstream, expiresMs }
        },
        false,
      )
      if (found?.entry) memory.set(this.#keyOf(at), found.entry)
    })
    await Promise.all(loads)
  }

  /** Settles when a request for some of the blocks is over; null if there is none. */
  pending({ from, to }: Range): Promise<void> | null {
    for (const each of this.#store.pending.get(this.filter) ?? [])
      if (each.from <= to && each.to >= from) return each.over
    return null
  }

  /** Lets other queries wait for a request. @returns ends the request */
  begin(range: Range): () => void {
    const { pending } = this.#store
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const all = pending.getOrInsertComputed(this.filter, () => new Set())
    const own = { ...range, over }
    all.add(own)
    return () => {
      all.delete(own)
      if (all.size === 0) pending.delete(this.filter)
      resolve()
    }
  }

  #get(at: number): Slice | null {
    const { memory, clock } = this.#store
    const slice = memory.get(this.#keyOf(at))
    return slice && slice.expiresMs > clock.nowMs() ? slice : null
  }

  #keyOf(at: number): string {
    return `${this.#store.scope} ${this.filter} ${at}`
  }

  #share(at: number, logs: LogList, upstream: string): void {
    const { shared, clock } = this.#store
    const body = Buffer.from(`{"result":[${bytesOf(logs).toString('latin1')}]}`, 'latin1')
    const entry = { headers: [], trailers: [], upstream, latestBlock: null, isEmpty: false, body }
    const times = { storedWallMs: clock.wallMs(), ttlMs: this.#ttlMs }
    const age = { ageClass: 'finalized', head: -1, reorgs: 0 } as const
    void shared?.keep(this.#keyOf(at), { ...entry, ...times, ...age })
  }
}

function sliceOf(block: number): number {
  return Math.floor(block / sliceBlocks)
}

function startOf(slice: number): number {
  return slice * sliceBlocks
}
