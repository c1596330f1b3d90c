// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { witnessesWanted, type Pace, type Sighting } from './tip.ts'

/**
 * It is measured over so many times the blocks that heads may differ by: over fewer, who leads or falls
 * back a little would look like another pace.
 */
const leastLags = 4
/** Nor over less time: machines behind one URL that differ would look like a chain that runs. */
const leastMs = 10_000
/** A chain may be so many times faster than its spec says. */
const fastest = 50

/** The first rise may be that of a machine behind the same URL that was ahead of the others. */
const leastRises = 2
/** In the time of so many blocks a chain that goes on brings some. */
const newBlocks = 10

/** A pace that was seen, and how much faster the chain may be at the very most. */
export interface BoundedPace extends Pace {
  readonly leastBlockTimeMs: number
}

/**
 * Whether an upstream's head rises: `goes-on`, be it far behind; `stopped` after it had; `still`: never yet,
 * in all the time; `new`: nobody can know yet.
 */
export type Progress = 'new' | 'still' | 'goes-on' | 'stopped'

/** How one upstream's head grew. */
interface Growth {
  readonly since: Sighting
  /** As it was measured last; null: not yet. */
  readonly blockTimeMs: number | null
  readonly highest: number
  /** When it last told a higher block than ever before, and how often it has. */
  readonly roseMs: number
  readonly rises: number
  readonly firstMs: number
}

/**
 * How long a block of a chain takes: as its spec says, or less where the heads of two upstreams, or of
 * the only one, were seen to grow faster, each by itself: heads of different upstreams tell nothing
 * of time. One that grows slower may go on at its usual pace at any time.
 */
export class SeenPace<Upstream extends object> {
  readonly #spec: Pace
  readonly #growths = new WeakMap<Upstream, Growth>()
  #value: BoundedPace

  constructor({ allowedLagBlocks, blockTimeMs }: Pace) {
    this.#spec = { allowedLagBlocks, blockTimeMs }
    this.#value = { allowedLagBlocks, blockTimeMs, leastBlockTimeMs: blockTimeMs / fastest }
  }

  get value(): BoundedPace {
    return this.#value
  }

  /** @param heard who told its head lately: a fast one among them needs a second one */
  told(upstream: Upstream, head: Sighting, heard: readonly Upstream[]): void {
    this.#growths.set(upstream, this.#grown(this.#growths.get(upstream), head))
    const { blockTimeMs: most } = this.#spec
    const times = heard.map((each) => this.#growths.get(each)?.blockTimeMs ?? most)
    const seenMs = times.toSorted((a, b) => a - b)[witnessesWanted(times.length) - 1] ?? most
    if (seenMs !== this.#value.blockTimeMs) this.#value = { ...this.#value, blockTimeMs: seenMs }
  }

  progressOf(upstream: Upstream, nowMs: number): Progress {
    const growth = this.#growths.get(upstream)
    if (growth === undefined) return 'new'
    const { rises, roseMs, firstMs } = growth
    const { allowedLagBlocks, blockTimeMs } = this.#value
    if (rises < leastRises) return nowMs - firstMs < newBlocks * blockTimeMs ? 'new' : 'still'
    return nowMs - roseMs <= (allowedLagBlocks + 1) * blockTimeMs ? 'goes-on' : 'stopped'
  }

  #grown(before: Growth | undefined, head: Sighting): Growth {
    // A chain that went back is measured from there.
    if (before === undefined || head.block < before.since.block) {
      const blockTimeMs = before?.blockTimeMs ?? null
      const firstMs = before?.firstMs ?? head.atMs
      return { since: head, blockTimeMs, highest: head.block, roseMs: head.atMs, rises: 0, firstMs }
    }
    const { since, blockTimeMs } = this.#measured(before, head)
    const hasRisen = head.block > before.highest
    const roseMs = hasRisen ? head.atMs : before.roseMs
    const rises = before.rises + (hasRisen ? 1 : 0)
    const highest = Math.max(before.highest, head.block)
    return { since, blockTimeMs, highest, roseMs, rises, firstMs: before.firstMs }
  }

  #measured(before: Growth, head: Sighting): Pick<Growth, 'since' | 'blockTimeMs'> {
    const { allowedLagBlocks, blockTimeMs: most } = this.#spec
    const blocks = head.block - before.since.block
    const tookMs = head.atMs - before.since.atMs
    const isEnough = blocks >= leastLags * (allowedLagBlocks + 1)
    if (!isEnough || tookMs < Math.max(leastMs, most)) return before
    const blockTimeMs = Math.max(tookMs / blocks, this.#value.leastBlockTimeMs)
    return { since: head, blockTimeMs: Math.min(blockTimeMs, most) }
  }
}
