// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { AnswerSharing } from '../cache/shared-cache.ts'
import type { Clock } from '../clock/clock.ts'
import { bytesOf, lengthOf, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'

/** Blocks of a slice, the unit of eviction and of the shared store. */
const sliceBlocks = 1_024
/** Slices that a query loads from the shared store. */
const maxLoaded = 64
/** Memory of a segment and of a log in addition to their text. */
const overheadBytes = { segment: 256, log: 64 } as const

/** Blocks whose logs are cached. */
export interface Segment extends Range {
  readonly logs: LogList
  /** The upstream that returned the last of them. */
  readonly upstream: string
  /** On the clock's monotonic scale. */
  readonly expiresMs: number
}

/** Cached slices of all chains, by chain, filter and number: disjoint, ascending segments. */
export type SliceMemory = LRUCache<string, readonly Segment[]>

export function createSliceMemory(maxBytes: number): SliceMemory {
  return new LRUCache({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    // One slice must not evict most others.
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: (segments, key) => {
      let size = key.length
      for (const { logs } of segments)
        size += lengthOf(logs) + overheadBytes.segment + overheadBytes.log * logs.length
      return size
    },
  })
}

/**
 * Logs of final blocks by filter, in aligned slices. A slice may be partly filled, so a query asks
 * upstreams for exactly the blocks that are missing.
 */
export class Slices {
  readonly #memory: SliceMemory
  readonly #shared: AnswerSharing | null
  readonly #clock: Clock
  readonly #scope: string
  readonly #pending = new Map<string, Set<Range & { readonly over: Promise<void> }>>()

  /**
   * @param shared null without a shared store
   * @param scope equal for relays that may share answers
   */
  constructor(memory: SliceMemory, shared: AnswerSharing | null, clock: Clock, scope: string) {
    this.#memory = memory
    this.#shared = shared
    this.#clock = clock
    this.#scope = scope
  }

  /** The cached logs from a block on, up to the end of a segment; null if that block is missing. */
  at(filter: string, { from, to }: Range): Segment | null {
    const all = this.#segments(this.#keyOf(filter, sliceOf(from)))
    const found = all.find((each) => each.from <= from && each.to >= from)
    if (!found) return null
    const part = { from, to: Math.min(found.to, to) }
    return { ...found, ...part, logs: found.logs.filter(isIn(part)) }
  }

  /** The first cached block of a range; the block after it if none is. */
  next(filter: string, { from, to }: Range): number {
    for (let slice = sliceOf(from); slice <= sliceOf(to); slice++)
      for (const each of this.#segments(this.#keyOf(filter, slice)))
        if (each.to >= from && each.from <= to) return Math.max(each.from, from)
    return to + 1
  }

  /** @returns false if a slice is too large to be cached, or would be once it is full */
  add(filter: string, range: Range, logs: LogList, upstream: string, ttlMs: number): boolean {
    const wholeBytes = (lengthOf(logs) / sizeOf(range)) * sliceBlocks
    if (wholeBytes > this.#memory.maxEntrySize) return false
    const expiresMs = this.#clock.nowMs() + ttlMs
    const bySlice = Map.groupBy(logs, ({ block }) => sliceOf(block))
    let isCached = true
    for (let slice = sliceOf(range.from); slice <= sliceOf(range.to); slice++) {
      const whole = blocksOf(slice)
      const from = Math.max(range.from, whole.from)
      const to = Math.min(range.to, whole.to)
      const key = this.#keyOf(filter, slice)
      const added = { from, to, logs: bySlice.get(slice) ?? [], upstream, expiresMs }
      const merged = merge(this.#segments(key), added)
      this.#memory.set(key, merged)
      isCached &&= this.#memory.has(key)
      const [first] = merged
      if (first?.from === whole.from && first.to === whole.to) this.#share(key, first, ttlMs)
    }
    return isCached
  }

  /** Loads whole slices that other replicas have stored. */
  async load(filter: string, { from, to }: Range): Promise<void> {
    if (!this.#shared) return
    const last = Math.min(sliceOf(to), sliceOf(from) + maxLoaded - 1)
    const slices = Array.from({ length: last - sliceOf(from) + 1 }, (_, i) => sliceOf(from) + i)
    const loads = slices.map(async (slice) => {
      const key = this.#keyOf(filter, slice)
      const range = blocksOf(slice)
      if (this.at(filter, range)?.to === range.to) return
      // Others can write to the store, so the logs are read like an answer.
      const found = await this.#shared?.lookUp(
        key,
        ({ body, upstream, ttlMs, storedWallMs }) => {
          const logs = readLogs(Buffer.from(body as Uint8Array), range.from, range.to)
          const expiresMs = this.#clock.nowMs() + ttlMs - (this.#clock.wallMs() - storedWallMs)
          return logs && { ...range, logs, upstream, expiresMs }
        },
        false,
      )
      if (found?.entry) this.#memory.set(key, [found.entry])
    })
    await Promise.all(loads)
  }

  /** Settles when a request for some of the blocks is over; null if there is none. */
  pending(filter: string, { from, to }: Range): Promise<void> | null {
    for (const each of this.#pending.get(filter) ?? [])
      if (each.from <= to && each.to >= from) return each.over
    return null
  }

  /** Lets other queries wait for a request. @returns ends the request */
  begin(filter: string, range: Range): () => void {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const all = this.#pending.getOrInsertComputed(filter, () => new Set())
    const own = { ...range, over }
    all.add(own)
    return () => {
      all.delete(own)
      if (all.size === 0) this.#pending.delete(filter)
      resolve()
    }
  }

  #segments(key: string): readonly Segment[] {
    const nowMs = this.#clock.nowMs()
    return (this.#memory.get(key) ?? []).filter(({ expiresMs }) => expiresMs > nowMs)
  }

  #keyOf(filter: string, slice: number): string {
    return `${this.#scope} ${filter} ${slice}`
  }

  #share(key: string, { logs, upstream }: Segment, ttlMs: number): void {
    const body = Buffer.from(`{"result":[${bytesOf(logs).toString('latin1')}]}`, 'latin1')
    const entry = { headers: [], trailers: [], upstream, latestBlock: null, isEmpty: false, body }
    const times = { storedWallMs: this.#clock.wallMs(), ttlMs }
    void this.#shared?.keep(key, { ...entry, ...times, ageClass: 'finalized', head: -1, reorgs: 0 })
  }
}

function sliceOf(block: number): number {
  return Math.floor(block / sliceBlocks)
}

function blocksOf(slice: number): Range {
  return { from: slice * sliceBlocks, to: (slice + 1) * sliceBlocks - 1 }
}

function isIn({ from, to }: Range): (log: { readonly block: number }) => boolean {
  return ({ block }) => block >= from && block <= to
}

/** Adds a segment. Joins it with those that it overlaps or touches. */
function merge(segments: readonly Segment[], added: Segment): readonly Segment[] {
  const isApart = (each: Segment) => each.to + 1 < added.from || each.from > added.to + 1
  const joined = segments.filter((each) => !isApart(each)).reduce(join, added)
  return [...segments.filter(isApart), joined].toSorted((a, b) => a.from - b.from)
}

function join(one: Segment, other: Segment): Segment {
  const [first, second] = one.from <= other.from ? [one, other] : [other, one]
  return {
    from: first.from,
    to: Math.max(first.to, second.to),
    logs: [...first.logs, ...second.logs.filter(({ block }) => block > first.to)],
    upstream: one.upstream,
    expiresMs: Math.min(one.expiresMs, other.expiresMs),
  }
}
