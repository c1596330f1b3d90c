// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RangeLimit as RangeRefusal } from '../chain/failure-table.ts'
import type { AttemptRecord, Call } from '../relay/call.ts'
import { addonsOf } from '../relay/needs.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { anyUpstream, isExcluded } from '../upstream/wanted.ts'

/** Number of filters whose density is remembered. */
const maxFilters = 1_000
/** Weight that older answers keep in a density after each new one. */
const memory = 0.75
/** Answers of the full size after which requests get twice as many blocks. */
const winsToGrow = 16
/** Weight of the latest request in the average duration. */
const weight = 0.1

/** How many logs, and bytes of logs, a filter has per block, according to its latest answers. */
export class Density {
  /** Number of blocks observed, weighted towards the latest answers. */
  blocks = 0
  /** The largest request that was answered. */
  answeredBlocks = 0
  #logs = 0
  #bytes = 0
  /** Largest request, in blocks, that nodes can serve. */
  #most: number
  /** Answers of that size. */
  #wins = 0

  constructor(most = Infinity) {
    this.#most = most
  }

  get isKnown(): boolean {
    return this.blocks > 0
  }

  logsIn(blocks: number): number {
    return this.isKnown ? (blocks * this.#logs) / this.blocks : 0
  }

  bytesIn(blocks: number): number {
    return this.isKnown ? (blocks * this.#bytes) / this.blocks : 0
  }

  /** Blocks that have about this many logs, or bytes, if that is known. */
  blocksOf({ logs = Infinity, bytes = Infinity }): number {
    if (!this.isKnown) return this.#most
    const fitting = Math.min(logs / this.#logs, bytes / this.#bytes) * this.blocks
    return Math.min(this.#most, Math.floor(fitting))
  }

  answered(blocks: number, logs: number, bytes: number): void {
    this.blocks = this.blocks * memory + blocks
    this.answeredBlocks = Math.max(this.answeredBlocks, blocks)
    this.#logs = this.#logs * memory + logs
    this.#bytes = this.#bytes * memory + bytes
    if (blocks < this.#most) return
    if (++this.#wins % winsToGrow === 0) this.#most *= 2
  }

  /** @returns blocks to request instead */
  refused({ limits, blocks }: RangeRefusal, size: number): number {
    const cutTo = blocks !== null && blocks < size ? blocks : Math.ceil(size / 2)
    // In other cases, the URL's limit and the density determine how many blocks it accepts.
    if (limits === 'work' || (limits === 'results' && !this.isKnown)) this.limitWork(cutTo)
    return cutTo
  }

  /** Caps requests with this filter, because more blocks take nodes too long. */
  limitWork(blocks: number): void {
    this.#most = Math.min(this.#most, blocks)
  }
}

/** The ranges that the upstreams of a pool accept. */
export class RangeLimits {
  readonly #pool: Pick<Pool, 'upstreams' | 'pick'>
  /** By filter, least recently used first. */
  readonly #densities = new Map<string, Density>()
  /** Average duration of a request. */
  requestMs = 50

  constructor(pool: Pick<Pool, 'upstreams' | 'pick'>) {
    this.#pool = pool
  }

  /** @param filter null if it is unknown */
  densityOf(filter: string | null): Density {
    const urls = this.#pool.upstreams.flatMap((each) => each.urls)
    const most = Math.max(...urls.map(({ logRange }) => logRange.workBlocks))
    const density = (filter !== null && this.#densities.get(filter)) || new Density(most)
    if (filter === null) return density
    this.#densities.delete(filter)
    this.#densities.set(filter, density)
    const [oldest = ''] = this.#densities.keys()
    if (this.#densities.size > maxFilters) this.#densities.delete(oldest)
    return density
  }

  /** Upstreams that may get the call: those in service, or all while there is none. */
  serving(call: Call, only = call.directives.only): readonly Upstream[] {
    const { pick, upstreams } = this.#pool
    const { method, directives } = call
    const wanted = {
      ...{ ...anyUpstream, addons: addonsOf(call), method: method.name, only },
      excluded: directives.blockProviders,
    }
    const able = pick.all(wanted)
    return able.length > 0 ? able : upstreams.filter((each) => !isExcluded(each, wanted))
  }

  /** Whether each upstream that may get the call accepts this number of blocks. */
  allow(call: Call, size: number, density: Density): boolean {
    const accepts = (each: Upstream) => this.of(each, density) >= size
    return this.#pool.upstreams.every(accepts) || this.serving(call).every(accepts)
  }

  /** Blocks that one request to the upstream may have. */
  of({ urls }: Upstream, density: Density): number {
    const all = urls.map(({ logRange: { blocks, logs } }) =>
      Math.min(blocks, density.blocksOf({ logs })),
    )
    return Math.max(1, ...all)
  }

  /** Whether some upstream has already returned as many logs as this many blocks should have. */
  isProven(call: Call, size: number, density: Density): boolean {
    const urls = this.serving(call).flatMap((each) => each.urls)
    const logs = density.logsIn(size)
    return density.isKnown && urls.some(({ logRange }) => logRange.provenLogs >= logs)
  }

  /** Learns from the attempts of a request. @param logs how many it returned; 0 if unknown */
  learn(attempts: readonly AttemptRecord[], size: number, density: Density, logs: number): void {
    for (const { upstream, origin, result, startedMs, endedMs } of attempts) {
      const urls = this.#pool.upstreams.find(({ name }) => name === upstream)?.urls ?? []
      const limit = urls.find(({ printable }) => printable === origin)?.logRange
      const range = typeof result === 'object' ? result?.range : undefined
      if (result === 'answer') {
        limit?.answered(size, logs)
        this.requestMs += weight * ((endedMs ?? startedMs) - startedMs - this.requestMs)
      } else if (range?.limits === 'blocks') limit?.refused(size, range.blocks)
      else if (range?.limits === 'results') limit?.refusedLogs(density.logsIn(size))
      else if (range) limit?.refusedWork(size)
    }
  }
}
