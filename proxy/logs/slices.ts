// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LRUCache } from 'lru-cache'
import type { SharedCache } from '../cache/shared-cache.ts'
import type { Clock } from '../clock/clock.ts'
import { joinRuns, type LogRun, partOf, readRun } from './log-run.ts'
import type { Range } from './query.ts'

/** Blocks of a slice, the unit of eviction and of the shared store. */
const sliceBlocks = 1_024
/** Slices that a query loads from the shared store. */
const maxLoaded = 64
/** Memory of a segment in addition to its logs, and of each block with logs. */
const overheadBytes = { segment: 256, block: 16 } as const
/** One slice must not evict most others. */
const maxShare = 1 / 16

/** Blocks whose logs are cached. */
export interface Segment extends Range {
  readonly run: LogRun
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
    maxEntrySize: Math.max(1, Math.floor(maxBytes * maxShare)),
    sizeCalculation: (segments, key) => {
      let size = key.length
      for (const { run } of segments)
        size += run.bytes.length + overheadBytes.segment + overheadBytes.block * run.blocks.length
      return size
    },
  })
}

export interface SlicesOptions {
  readonly memory: SliceMemory
  /** Null without a shared store. */
  readonly shared: SharedCache | null
  readonly clock: Clock
  /** Equal for relays that may share answers. */
  readonly scope: string
}

/**
 * Logs of final blocks by filter, in aligned slices. A slice may be partly filled, so a query asks
 * upstreams for exactly the blocks that are missing.
 */
export class Slices {
  readonly #options: SlicesOptions
  readonly #pending = new Map<string, Set<Range & { readonly over: Promise<void> }>>()

  constructor(options: SlicesOptions) {
    this.#options = options
  }

  /** The cached logs from a block on, up to the end of a segment; null if that block is missing. */
  at(filter: string, { from, to }: Range): Segment | null {
    const found = this.#segments(filter, sliceOf(from)).find(
      (each) => each.from <= from && each.to >= from,
    )
    if (!found) return null
    const end = Math.min(found.to, to)
    return { ...found, from, to: end, run: partOf(found.run, from, end) }
  }

  /** The first cached block of a range; the block after it if none is. */
  next(filter: string, { from, to }: Range): number {
    for (let slice = sliceOf(from); slice <= sliceOf(to); slice++)
      for (const each of this.#segments(filter, slice))
        if (each.to >= from && each.from <= to) return Math.max(each.from, from)
    return to + 1
  }

  /** @returns false if a slice is too large to be cached */
  add(filter: string, range: Range, { run, upstream, ttlMs }: Added): boolean {
    const expiresMs = this.#options.clock.nowMs() + ttlMs
    let isCached = true
    for (let slice = sliceOf(range.from); slice <= sliceOf(range.to); slice++) {
      const from = Math.max(range.from, slice * sliceBlocks)
      const to = Math.min(range.to, (slice + 1) * sliceBlocks - 1)
      // A copy, since the whole answer may be far longer.
      const own = joinRuns([partOf(run, from, to)])
      const part = { ...own, bytes: Buffer.from(own.bytes) }
      const key = this.#keyOf(filter, slice)
      const known = this.#segments(filter, slice)
      const merged = merge(known, { from, to, run: part, upstream, expiresMs })
      this.#options.memory.set(key, merged)
      isCached &&= this.#options.memory.has(key)
      if (isCached) void this.#share(key, merged, ttlMs)
    }
    return isCached
  }

  /** Loads slices that other replicas have stored. */
  async load(filter: string, { from, to }: Range): Promise<void> {
    const { shared, memory, clock } = this.#options
    if (!shared) return
    const loads: Promise<unknown>[] = []
    for (let slice = sliceOf(from); slice <= sliceOf(to) && loads.length < maxLoaded; slice++) {
      const first = Math.max(from, slice * sliceBlocks)
      const last = Math.min(to, (slice + 1) * sliceBlocks - 1)
      if ((this.at(filter, { from: first, to: last })?.to ?? -1) === last) continue
      const key = this.#keyOf(filter, slice)
      const adopt = ({ body, ttlMs, storedWallMs }: Stored) => {
        const leftMs = ttlMs - (clock.wallMs() - storedWallMs)
        return decode(Buffer.from(body as Uint8Array), slice, clock.nowMs() + leftMs)
      }
      const load = shared.lookUp(key, adopt, false).then(({ entry }) => {
        if (entry) memory.set(key, entry.reduce(merge, this.#segments(filter, slice)))
      })
      loads.push(load)
    }
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

  #segments(filter: string, slice: number): readonly Segment[] {
    const all = this.#options.memory.get(this.#keyOf(filter, slice)) ?? []
    const nowMs = this.#options.clock.nowMs()
    return all.every(({ expiresMs }) => expiresMs > nowMs)
      ? all
      : all.filter(({ expiresMs }) => expiresMs > nowMs)
  }

  #keyOf(filter: string, slice: number): string {
    return `${this.#options.scope} ${filter} ${slice}`
  }

  async #share(key: string, segments: readonly Segment[], ttlMs: number): Promise<void> {
    const { shared, clock } = this.#options
    const [{ upstream } = { upstream: '' }] = segments
    const own = { headers: [], trailers: [], upstream, latestBlock: null, isEmpty: false }
    const times = { storedWallMs: clock.wallMs(), ttlMs }
    const body = encode(segments)
    await shared?.keep(key, { ...own, ...times, ageClass: 'finalized', head: -1, reorgs: 0, body })
  }
}

interface Added extends Pick<Segment, 'run' | 'upstream'> {
  readonly ttlMs: number
}

type Stored = Parameters<Parameters<SharedCache['lookUp']>[1]>[0]

function sliceOf(block: number): number {
  return Math.floor(block / sliceBlocks)
}

/** Adds a segment. Joins it with those that it overlaps or touches. */
function merge(segments: readonly Segment[], added: Segment): readonly Segment[] {
  const isApart = (each: Segment) => each.to + 1 < added.from || each.from > added.to + 1
  const joined = segments.filter((each) => !isApart(each)).reduce(join, added)
  return [...segments.filter(isApart), joined].toSorted((a, b) => a.from - b.from)
}

function join(one: Segment, other: Segment): Segment {
  const [first, second] = one.from <= other.from ? [one, other] : [other, one]
  const rest = partOf(second.run, first.to + 1, second.to)
  return {
    from: first.from,
    to: Math.max(first.to, second.to),
    run: joinRuns([first.run, rest]),
    upstream: one.upstream,
    expiresMs: Math.min(one.expiresMs, other.expiresMs),
  }
}

/** A line with the ranges, and a line of logs for each. */
function encode(segments: readonly Segment[]): Buffer {
  const ranges = segments.map(({ from, to, upstream }) => ({ from, to, upstream }))
  const lines = segments.flatMap(({ run }) => [Buffer.from('\n['), run.bytes, Buffer.from(']')])
  const lengths = segments.map(({ run }) => run.bytes.length + 3)
  return Buffer.concat([Buffer.from(JSON.stringify({ ranges, lengths })), ...lines])
}

/** Others can write to the store, so the logs are read like an answer. */
function decode(bytes: Buffer, slice: number, expiresMs: number): readonly Segment[] | null {
  try {
    const end = bytes.indexOf('\n')
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as {
      readonly ranges: readonly (Range & Pick<Segment, 'upstream'>)[]
      readonly lengths: readonly number[]
    }
    let at = end
    const segments = head.ranges.map(({ from, to, upstream }, index) => {
      const start = at
      at += head.lengths[index] ?? NaN
      const run = readRun(bytes.subarray(start + 1, at), from, to)
      const isOwn = sliceOf(from) === slice && sliceOf(to) === slice && from <= to
      return run && isOwn && typeof upstream === 'string'
        ? { from, to, run, upstream, expiresMs }
        : null
    })
    return segments.every((each) => each !== null) ? segments : null
  } catch {
    return null
  }
}
