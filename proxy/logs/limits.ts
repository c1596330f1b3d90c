// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AttemptRecord, Call } from '../relay/call.ts'
import { addonsOf } from '../relay/needs.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { anyUpstream, isExcluded } from '../upstream/wanted.ts'

/** Filters whose results were limited. */
const maxFilters = 1_000

/** The ranges that the upstreams of a pool accept. */
export class RangeLimits {
  readonly #pool: Pick<Pool, 'upstreams' | 'pick'>

  /** Blocks per request that results allow, by filter; the first was set the longest ago. */
  readonly #results = new Map<string, number>()

  constructor(pool: Pick<Pool, 'upstreams' | 'pick'>) {
    this.#pool = pool
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
  allow(call: Call, size: number): boolean {
    const accepts = (each: Upstream) => this.of(each) >= size
    return this.#pool.upstreams.every(accepts) || this.serving(call).every(accepts)
  }

  /** Blocks that one request to the upstream may have. */
  of({ urls }: Upstream): number {
    return Math.max(...urls.map(({ logRange }) => logRange.blocks))
  }

  /** Blocks per request that results allow; Infinity if that is unknown. */
  forResults(filter: string | null = null): number {
    return this.#results.get(filter ?? '') ?? Infinity
  }

  limitResults(filter: string | null, blocks: number): void {
    if (filter === null) return
    this.#results.delete(filter)
    this.#results.set(filter, blocks)
    const [oldest = ''] = this.#results.keys()
    if (this.#results.size > maxFilters) this.#results.delete(oldest)
  }

  /** Learns from the attempts of a request for this number of blocks. */
  learn(attempts: readonly AttemptRecord[], size: number): void {
    for (const { upstream, origin, result } of attempts) {
      const urls = this.#pool.upstreams.find(({ name }) => name === upstream)?.urls ?? []
      const limit = urls.find(({ printable }) => printable === origin)?.logRange
      if (result === 'answer') limit?.answered(size)
      else if (typeof result === 'object' && result?.range?.limits === 'blocks')
        limit?.refused(size, result.range.blocks)
    }
  }
}
