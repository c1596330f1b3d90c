// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { counted } from '../words/counted.ts'
import { rememberedBlocks, type ShownBlock } from './recent-blocks.ts'

/** Blocks that clients have seen and that others have replaced. */
export interface Reorg {
  /** Number of replaced heights, up to the highest that was shown. */
  readonly depth: number
  /** The lowest of them. */
  readonly block: number
  /** Depth of the deepest reorg of the last hour, at least 1. */
  readonly usualDepth: number
}

const recentMs = 5 * 60_000
const usualMs = 60 * 60_000
const maxReorgs = 1_000
const maxHashes = 1_024
/** Number of recent reorgs that is unusual, and its ratio to the average of the last hour. */
const unusual = { count: 3, times: 3 } as const

/**
 * Finds reorgs, and knows which are usual on the chain. A block counts once two upstreams have
 * shown it, so a node on a fork of its own causes none. If one upstream shows all blocks, it
 * decides.
 */
export class Reorgs {
  readonly #clock: Clock
  #all: readonly { readonly atMs: number; readonly depth: number }[] = []
  /** The block that counts, by number. */
  readonly #counting = new Map<number, string>()
  /** The upstream that first showed a hash; null once its block has counted. */
  readonly #firstBy = new Map<string, string | null>()
  readonly #lastMs = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * @param by name of the upstream that showed the block
   * @param highest the newest block; blocks far below it are ignored
   */
  observe(block: ShownBlock, by: string, highest: number): Reorg | null {
    const { number, hash, parent, isByHash } = block
    if (hash === null || isByHash || number <= highest - rememberedBlocks) return null
    this.#lastMs.set(by, this.#clock.wallMs())
    const below = parent === null ? null : this.#count(number - 1, parent, by)
    return this.#count(number, hash, by) ?? below
  }

  #count(block: number, hash: string, by: string): Reorg | null {
    const before = this.#counting.get(block)
    if (before === hash) return null
    const first = this.#firstBy.getOrInsert(hash, by)
    if (this.#firstBy.size > maxHashes) forgetOldest(this.#firstBy)
    const recently = this.#clock.wallMs() - recentMs
    const isAlone = () => [...this.#lastMs].every(([name, ms]) => name === by || ms < recently)
    if (first === by && !isAlone()) return null
    this.#firstBy.set(hash, null)
    const replaced = before === undefined ? [] : [...this.#counting.keys()].filter((n) => n > block)
    for (const each of replaced) this.#counting.delete(each)
    this.#counting.set(block, hash)
    if (this.#counting.size > rememberedBlocks) forgetOldest(this.#counting)
    // If an earlier branch is back, nodes disagree.
    if (before === undefined || first === null) return null
    return this.#add(block, Math.max(block, ...replaced) - block + 1)
  }

  #add(block: number, depth: number): Reorg {
    const atMs = this.#clock.wallMs()
    const known = this.#all.filter((each) => each.atMs > atMs - usualMs)
    this.#all = [...known.slice(1 - maxReorgs), { atMs, depth }]
    return { depth, block, usualDepth: deepest(known) }
  }

  /** `5 reorgs in 5 minutes, up to 3 blocks deep`, if that is unusual for the chain; else null. */
  get notice(): string | null {
    const nowMs = this.#clock.wallMs()
    const { recent = [], earlier = [] } = Object.groupBy(
      this.#all.filter(({ atMs }) => atMs > nowMs - usualMs),
      ({ atMs }) => (atMs > nowMs - recentMs ? 'recent' : 'earlier'),
    )
    const usual = (earlier.length * recentMs) / (usualMs - recentMs)
    const isOften = recent.length >= Math.max(unusual.count, unusual.times * usual)
    if (!isOften && deepest(recent) <= deepest(earlier)) return null
    const depth = counted(deepest(recent), 'block')
    return `${counted(recent.length, 'reorg')} in 5 minutes, up to ${depth} deep`
  }
}

function deepest(reorgs: readonly Pick<Reorg, 'depth'>[]): number {
  return Math.max(1, ...reorgs.map(({ depth }) => depth))
}

function forgetOldest(map: Map<unknown, unknown>): void {
  map.delete(map.keys().next().value)
}
