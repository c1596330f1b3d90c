// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../proxy/clock/clock.ts'

export interface ChainOptions {
  /** The same seed gives the same chain in every process. Default: `upstream-sim`. */
  readonly seed?: string
  readonly blockTimeMs?: number
  readonly head?: number
  /** Clock by which the head rises. Without it only `mine` moves the head. */
  readonly clock?: Clock
}

/** A client transaction, and the height of its block, which is null while it is pending. */
interface Placed<Sent> {
  readonly sent: Sent
  height: number | null
}

/**
 * The common part of all simulated chains: heights, branches and client transactions. Each chain
 * defines its blocks as a function of seed, height and branch.
 */
export class GrowingChain<Sent> {
  readonly seed: string
  readonly blockTimeMs: number
  readonly #clock: Clock | null
  readonly #startedMs: number
  readonly #originMs: number
  /** The height from which each branch has its own blocks. */
  readonly #branches = [0]
  readonly #sent = new Map<string, Placed<Sent>>()
  #head: number
  #ticks = 0

  constructor(options: ChainOptions, usual: { blockTimeMs: number; head: number }) {
    this.seed = options.seed ?? 'upstream-sim'
    this.blockTimeMs = options.blockTimeMs ?? usual.blockTimeMs
    this.#head = options.head ?? usual.head
    this.#clock = options.clock ?? null
    this.#startedMs = this.#clock?.nowMs() ?? 0
    const headWallMs = this.#clock?.wallMs() ?? Date.UTC(2026, 0, 1)
    this.#originMs = headWallMs - this.#head * this.blockTimeMs
  }

  get head(): number {
    this.#follow()
    return this.#head
  }

  /** Adds blocks to those that the clock adds. The first includes all pending transactions. */
  mine(count = 1): void {
    this.#follow()
    this.#grow(count)
  }

  /**
   * Replaces the newest `depth` blocks by others at the same heights. Client transactions remain at
   * their heights.
   */
  reorg(depth: number): void {
    this.#follow()
    if (!Number.isInteger(depth) || depth < 1 || depth > this.#head)
      throw new RangeError(`a reorganisation is 1 to ${this.#head} blocks deep, not ${depth}`)
    this.#branches.push(this.#head - depth + 1)
  }

  /** Number of the canonical branch, which the branch retains after a reorganisation. */
  get branch(): number {
    return this.#branches.length - 1
  }

  /** The branch where a branch's block at this height was first made. */
  branchAt(height: number, branch = this.branch): number {
    let at = branch
    while (this.#branches[at]! > height) at--
    return at
  }

  /** Timestamp of a block, in milliseconds since 1970. */
  wallMsOf(height: number): number {
    return this.#originMs + height * this.blockTimeMs
  }

  /** Adds a client transaction to the pool for the next block. A known one changes nothing. */
  submit(id: string, sent: Sent): void {
    this.#follow()
    if (!this.#sent.has(id)) this.#sent.set(id, { sent, height: null })
  }

  /** A client transaction; null for an unknown one. */
  sent(id: string): Readonly<Placed<Sent>> | null {
    this.#follow()
    return this.#sent.get(id) ?? null
  }

  /** Client transactions in the block at this height, in order of arrival. */
  sentIn(height: number): readonly Sent[] {
    return this.#sentWhere((at) => at === height)
  }

  /** Client transactions in all blocks up to this height. */
  sentUpTo(height: number): readonly Sent[] {
    return this.#sentWhere((at) => at !== null && at <= height)
  }

  get waiting(): readonly Sent[] {
    this.#follow()
    return this.#sentWhere((at) => at === null)
  }

  #sentWhere(is: (height: number | null) => boolean): readonly Sent[] {
    return [...this.#sent.values()].filter(({ height }) => is(height)).map(({ sent }) => sent)
  }

  /** Adds the blocks that the clock has made due. */
  #follow(): void {
    if (this.#clock === null) return
    const due = Math.floor((this.#clock.nowMs() - this.#startedMs) / this.blockTimeMs)
    if (due <= this.#ticks) return
    const count = due - this.#ticks
    this.#ticks = due
    this.#grow(count)
  }

  #grow(count: number): void {
    for (const placed of this.#sent.values()) placed.height ??= this.#head + 1
    this.#head += count
  }
}
