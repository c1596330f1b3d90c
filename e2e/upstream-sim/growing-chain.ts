// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../proxy/clock/clock.ts'

export interface ChainOptions {
  /** Same seed, same chain: on every node, in every process. Default `upstream-sim`. */
  readonly seed?: string
  readonly blockTimeMs?: number
  /** The newest block at the start. */
  readonly head?: number
  /** When given, the head rises with it; without it only `mine` moves the head. */
  readonly clock?: Clock
}

/** A transaction of a client, and the height of its block; null while it waits for one. */
interface Placed<Sent> {
  readonly sent: Sent
  height: number | null
}

/**
 * The common part of all simulated chains: heights, and the transactions of clients. Each chain
 * defines its blocks, as a function of the seed, the height and the branch of the height.
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

  /** Height of the newest block. */
  get head(): number {
    this.#follow()
    return this.#head
  }

  /** Adds blocks by hand, beside those that the clock adds. Waiting transactions go into the first. */
  mine(count = 1): void {
    this.#follow()
    this.#grow(count)
  }

  /**
   * Replaces the newest `depth` blocks by others of the same heights. Transactions of clients stay
   * where they are.
   */
  reorg(depth: number): void {
    this.#follow()
    if (!Number.isInteger(depth) || depth < 1 || depth > this.#head)
      throw new RangeError(`a reorganisation is 1 to ${this.#head} blocks deep, not ${depth}`)
    this.#branches.push(this.#head - depth + 1)
  }

  /** The canonical branch as it is now, by a name that stays when it is left. */
  get branch(): number {
    return this.#branches.length - 1
  }

  /** The branch that the block of a branch at this height belongs to. */
  branchAt(height: number, branch = this.branch): number {
    let at = branch
    while (this.#branches[at]! > height) at--
    return at
  }

  /** When a block was made, in milliseconds since 1970. */
  wallMsOf(height: number): number {
    return this.#originMs + height * this.blockTimeMs
  }

  /** Takes a client's transaction; the next block has it. A known one changes nothing. */
  submit(id: string, sent: Sent): void {
    this.#follow()
    if (!this.#sent.has(id)) this.#sent.set(id, { sent, height: null })
  }

  /** A client's transaction; null for one that was never sent. */
  sent(id: string): Readonly<Placed<Sent>> | null {
    this.#follow()
    return this.#sent.get(id) ?? null
  }

  /** What clients sent that is in the block at this height, in the order in which it came. */
  sentIn(height: number): readonly Sent[] {
    return this.#sentWhere((at) => at === height)
  }

  /** Everything that clients sent, in blocks up to this height. */
  sentUpTo(height: number): readonly Sent[] {
    return this.#sentWhere((at) => at !== null && at <= height)
  }

  /** What clients sent that waits for a block. */
  get waiting(): readonly Sent[] {
    this.#follow()
    return this.#sentWhere((at) => at === null)
  }

  #sentWhere(is: (height: number | null) => boolean): readonly Sent[] {
    return [...this.#sent.values()].filter(({ height }) => is(height)).map(({ sent }) => sent)
  }

  /** Makes the blocks that are due by the clock. */
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
