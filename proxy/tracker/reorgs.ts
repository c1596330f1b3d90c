// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { counted } from '../words/counted.ts'

/** Blocks that clients have seen and that others have replaced. */
export interface Reorg {
  /** Number of replaced blocks that were shown. */
  readonly depth: number
  /** The lowest of them. */
  readonly block: number
  /** Depth of the deepest reorg of the last hour, at least 1. */
  readonly usualDepth: number
}

const recentMs = 5 * 60_000
const usualMs = 60 * 60_000
const maxReorgs = 1_000
/** Number of recent reorgs that is unusual, and its ratio to the average of the last hour. */
const unusual = { count: 3, times: 3 } as const

/** The reorgs of the last hour, which show what is usual on a chain. */
export class Reorgs {
  readonly #clock: Clock
  #all: readonly { readonly atMs: number; readonly depth: number }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(block: number, depth: number): Reorg {
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
