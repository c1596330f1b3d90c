// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { AttemptRecord, Call } from '../relay/call.ts'
import type { Pool } from '../upstream/pool.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { isPermitted } from '../upstream/wanted.ts'
import { type Range, sizeOf } from './log-list.ts'

/** Blocks per request to a URL whose limit is unknown. Most providers accept this many. */
const firstBlocks = 2_000
/** Answers of the full size after which a URL gets twice as many blocks. */
const winsToGrow = 8
/** A learned limit is probed again after this time, because a plan may change. */
const learnedMs = 60 * 60_000

interface Learned {
  /** Blocks that one request may have. */
  blocks: number
  /** Answers of the full size since `blocks` last grew. */
  wins: number
  /** Until when `blocks` does not grow, since the node named or showed a limit. */
  fixedUntilMs: number
}

/** The largest ranges that the URLs of a pool accept: configured, or learned from their answers. */
export class RangeLimits {
  readonly #pool: Pick<Pool, 'upstreams'>
  readonly #clock: Clock
  readonly #learned = new WeakMap<NodeUrl, Learned>()

  constructor(pool: Pick<Pool, 'upstreams'>, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
  }

  /** Upstreams that may get the call now: primaries, or backups while there is none. */
  serving({ method, directives }: Pick<Call, 'method' | 'directives'>): readonly Upstream[] {
    const { only, blockProviders } = directives
    const able = this.#pool.upstreams.filter(
      (each) =>
        each.isInService &&
        each.serves([]) &&
        isPermitted(each, method.name) &&
        !blockProviders.includes(each.name) &&
        only?.includes(each.name) !== false,
    )
    const primaries = able.filter(({ tier }) => tier === 'primary')
    return primaries.length > 0 ? primaries : able
  }

  /** Whether each upstream that may get the call accepts the range, as far as it is known. */
  allow(call: Call, range: Range): boolean {
    const size = sizeOf(range)
    return this.serving(call).every((each) => this.of(each) >= size)
  }

  /** Blocks that one request to the upstream may have. */
  of({ urls }: Upstream): number {
    return Math.max(...urls.map((url) => this.#of(url).blocks))
  }

  #of(url: NodeUrl): Learned {
    const { maxLogBlocks } = url
    if (maxLogBlocks !== null) return { blocks: maxLogBlocks, wins: 0, fixedUntilMs: Infinity }
    return this.#learned.getOrInsertComputed(url, () => {
      return { blocks: firstBlocks, wins: 0, fixedUntilMs: -Infinity }
    })
  }

  /** Learns from the attempts of a request for a range. */
  learn(attempts: readonly AttemptRecord[], range: Range): void {
    const size = sizeOf(range)
    const nowMs = this.#clock.nowMs()
    for (const { upstream, origin, result } of attempts) {
      const urls = this.#pool.upstreams.find(({ name }) => name === upstream)?.urls ?? []
      const url = urls.find(({ printable }) => printable === origin)
      if (!url) continue
      const own = this.#of(url)
      if (result === 'answer') {
        // An answer disproves a smaller limit.
        own.blocks = Math.max(own.blocks, size)
        own.wins += size === own.blocks ? 1 : 0
        if (own.wins < winsToGrow || nowMs < own.fixedUntilMs) continue
        own.blocks *= 2
        own.wins = 0
      } else if (typeof result === 'object' && result?.range?.limits === 'blocks') {
        const named = result.range.blocks
        own.blocks = named !== null && named < size ? named : Math.max(1, Math.floor(size / 2))
        own.wins = 0
        own.fixedUntilMs = nowMs + learnedMs
      }
    }
  }
}
