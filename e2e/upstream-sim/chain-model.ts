// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transaction as SignedTransaction } from 'ethers'
import type { Clock } from '../../proxy/clock/clock.ts'
import { buildBlock } from './block-builder.ts'
import { ChainState, type Included, Population } from './chain-state.ts'
import { draftOf, draftOfSigned } from './drafts.ts'
import { digest, type Hex, toData } from './hex.ts'
import type { MinedBlock } from './shapes.ts'

const rememberedBlocks = 2_048
/**
 * The parent hash of every so many-th block is made up, so that a hash does not need all blocks from
 * genesis on. It is so far below the head that a chain begins with; above that, all of them are true.
 */
const segmentBlocks = 256
const ancestors = 32
const gwei = 1_000_000_000

export interface ChainOptions {
  /** Same seed, same chain: on every node, in every process. Default `upstream-sim`. */
  readonly seed?: string
  /** Default 1, Ethereum's. */
  readonly chainId?: number
  /** Default 12,000. */
  readonly blockTimeMs?: number
  /** The newest block at the start. Default 20,000,000. */
  readonly head?: number
  /** When given, the head rises with it; without it only `mine` moves the head. */
  readonly clock?: Clock
  /** What other chains of the same seed, head and block time built. */
  readonly built?: Built
}

/** What need not be built again: for whoever makes thousands of chains that are one at the start. */
export interface Built {
  readonly blocks: Map<string, MinedBlock>
  readonly population: Population
}

export function nothingBuilt(seed: string): Built {
  return { blocks: new Map(), population: new Population(seed) }
}

interface Branch {
  /** The lowest height that is this branch's own; below it, it is its parent's. */
  readonly from: number
  readonly parent: number
  /** The highest block that this branch reached before it was left; null while it is canonical. */
  top: number | null
}

/** What a hash stands for: a block, or a transaction in it. */
interface Told {
  readonly branch: number
  readonly height: number
  readonly index: number | null
}

/** Where a hash leads: a block, or a transaction in it. */
export interface Found {
  readonly mined: MinedBlock
  readonly index: number | null
  /** False for a block that a reorganisation replaced. */
  readonly canonical: boolean
}

/**
 * A whole chain as a function of its seed: no I/O, no time but the clock that is handed in, and
 * nothing stored but reorganisations and the transactions of clients. Nodes are views of it.
 */
export class ChainModel {
  readonly seed: string
  readonly chainId: number
  readonly blockTimeMs: number
  readonly population: Population
  readonly state: ChainState
  /** Where a hash leads that was told once. */
  readonly #told = new Map<string, Told>()
  /** Blocks by their place. */
  readonly #mined = new Map<string, MinedBlock>()
  readonly #clock: Clock | null
  readonly #startedMs: number
  readonly #originMs: number
  readonly #branches: Branch[] = [{ from: 0, parent: 0, top: null }]
  readonly #pool = new Map<string, SignedTransaction>()
  readonly #included = new Map<
    string,
    { place: string; height: number; signed: SignedTransaction }
  >()
  readonly #built: Map<string, MinedBlock>
  readonly #firstHead: number
  #head: number
  #ticks = 0

  constructor(options: ChainOptions = {}) {
    this.seed = options.seed ?? 'upstream-sim'
    this.chainId = options.chainId ?? 1
    this.blockTimeMs = options.blockTimeMs ?? 12_000
    this.#head = options.head ?? 20_000_000
    this.#firstHead = this.#head
    this.#clock = options.clock ?? null
    const { blocks, population } = options.built ?? nothingBuilt(this.seed)
    this.#built = blocks
    this.#startedMs = this.#clock?.nowMs() ?? 0
    const headWallMs = this.#clock?.wallMs() ?? Date.UTC(2026, 0, 1)
    this.#originMs = headWallMs - this.#head * this.blockTimeMs
    this.population = population
    this.state = new ChainState(this.seed, this.population, () => this.#canonicalIncluded())
  }

  /** Height of the newest block. */
  get head(): number {
    this.#follow()
    return this.#head
  }

  /** Adds blocks by hand, beside those that the clock adds. Waiting transactions go into the first. */
  mine(count = 1): void {
    this.#follow()
    this.#mine(count)
  }

  /**
   * Replaces the newest `depth` blocks by others of the same heights. The old ones are still found
   * by hash; transactions of clients that were in them are in the first new block.
   */
  reorg(depth: number): void {
    this.#follow()
    if (!Number.isInteger(depth) || depth < 1 || depth > this.#head)
      throw new RangeError(`a reorganisation is 1 to ${this.#head} blocks deep, not ${depth}`)
    const from = this.#head - depth + 1
    const parent = this.#branchAt(from - 1)
    const evicted = [...this.#canonicalIncluded()].filter((included) => included.height >= from)
    this.#branches[this.#tip]!.top = this.#head
    this.#branches.push({ from, parent, top: null })
    for (const { signed } of evicted) this.#include(signed, from)
  }

  /** The canonical block at this height, which must not be above the head. */
  block(height: number): MinedBlock {
    return this.#block(this.#branchAt(height), height)
  }

  /** The canonical branch as it is now, by a name that stays when it is left. */
  get branch(): number {
    return this.#tip
  }

  /** Height of the newest block of a branch. */
  headOf(branch: number): number {
    this.#follow()
    return this.#branches[branch]!.top ?? this.#head
  }

  /** The block that a branch has at this height, which must not be above its newest one. */
  blockOf(branch: number, height: number): MinedBlock {
    return this.#block(this.#branchAt(height, branch), height)
  }

  /** One more block on a branch that was left: for those who have not heard yet that it was. */
  mineOnLeft(branch: number): void {
    const left = this.#branches[branch]!
    if (left.top !== null) left.top += 1
  }

  /** What would be mined next: one block above `height`, with what waits in the pool. */
  pendingBlock(height: number): MinedBlock {
    return this.#build(this.#branchAt(height), height + 1, [...this.#pool.values()], false)
  }

  /** The block or the transaction that has this hash, or null. */
  find(hash: string): Found | null {
    this.#follow()
    const included = this.#included.get(hash.toLowerCase())
    if (included !== undefined) {
      const mined = this.block(included.height)
      const index = mined.block.transactions.findIndex((one) => one.hash === hash.toLowerCase())
      return index < 0 ? null : { mined, index, canonical: true }
    }
    const told = this.#told.get(hash.toLowerCase()) ?? this.#toldLately(hash.toLowerCase())
    if (told === null) return null
    const { branch, height, index } = told
    const canonical = this.#branchAt(height) === branch
    return { mined: this.#block(branch, height), index, canonical }
  }

  /** A transaction that waits to be mined. */
  waiting(hash: string): SignedTransaction | null {
    this.#follow()
    return this.#pool.get(hash.toLowerCase()) ?? null
  }

  /** How many transactions of the address wait to be mined. */
  waitingOf(address: string): number {
    const sender = address.toLowerCase()
    return [...this.#pool.values()].filter((one) => one.from?.toLowerCase() === sender).length
  }

  /** Takes a signed transaction into the pool; the next block has it. A known one changes nothing. */
  submit(signed: SignedTransaction): void {
    this.#follow()
    const hash = signed.hash!
    if (!this.#included.has(hash)) this.#pool.set(hash, signed)
  }

  get #tip(): number {
    return this.#branches.length - 1
  }

  /** Mines what the clock says is due. */
  #follow(): void {
    if (this.#clock === null) return
    const due = Math.floor((this.#clock.nowMs() - this.#startedMs) / this.blockTimeMs)
    if (due > this.#ticks) {
      this.#mine(due - this.#ticks)
      this.#ticks = due
    }
  }

  #mine(count: number): void {
    for (const signed of this.#pool.values()) this.#include(signed, this.#head + 1)
    this.#pool.clear()
    this.#head += count
  }

  #include(signed: SignedTransaction, height: number): void {
    this.#included.set(signed.hash!, { place: placeKey(this.#tip, height), height, signed })
  }

  #canonicalIncluded(): Iterable<Included> {
    return this.#included.values()
  }

  /** The branch that the canonical chain has at this height. */
  #branchAt(height: number, of = this.#tip): number {
    let branch = of
    while (height < this.#branches[branch]!.from) branch = this.#branches[branch]!.parent
    return branch
  }

  #block(branch: number, height: number): MinedBlock {
    const place = placeKey(branch, height)
    const known = this.#mined.get(place)
    if (known !== undefined) return known
    const clients = [...this.#included.values()].filter((one) => one.place === place)
    // What was there at the start is as the seed has it; what came later stands on what came before.
    const isOfSeed = branch === 0 && height <= this.#firstHead
    const under = isOfSeed ? '' : (this.#parentHash(branch, height) ?? '')
    const key = `${place}<${under} ${clients.map((one) => one.signed.hash).join(' ')}`
    const built =
      this.#built.get(key) ??
      this.#build(
        branch,
        height,
        clients.map((one) => one.signed),
        true,
      )
    this.#built.delete(key)
    this.#built.set(key, built)
    if (this.#built.size > rememberedBlocks) this.#built.delete(this.#built.keys().next().value!)
    this.#tell(branch, built)
    return built
  }

  /** Null for genesis. */
  #parentHash(branch: number, height: number): Hex | null {
    if (height === 0) return null
    if (this.#beginsSegment(height)) return toData(digest(this.seed, 'far-parent', branch, height))
    this.#hashUpTo(branch, height - 1)
    return this.#block(this.#branchAt(height - 1, branch), height - 1).hash
  }

  /** Its parent is made up. */
  #beginsSegment(height: number): boolean {
    return height <= this.#firstHead && (height + ancestors - this.#firstHead) % segmentBlocks === 0
  }

  /** From below, for after a long time without questions the blocks would stand deep on each other. */
  #hashUpTo(branch: number, height: number): void {
    const isKnown = (at: number) => this.#mined.has(placeKey(this.#branchAt(at, branch), at))
    let lowest = height
    while (lowest > this.#firstHead && !isKnown(lowest - 1)) lowest -= 1
    for (let at = lowest; at < height; at++) this.#block(this.#branchAt(at, branch), at)
  }

  #tell(branch: number, mined: MinedBlock): void {
    const { height, hash, block } = mined
    this.#mined.set(placeKey(branch, height), mined)
    this.#told.set(hash, { branch, height, index: null })
    for (const [index, transaction] of block.transactions.entries())
      this.#told.set(transaction.hash, { branch, height, index })
    if (height === 0 || this.#beginsSegment(height)) return
    const parent = { branch: this.#branchAt(height - 1, branch), height: height - 1, index: null }
    this.#told.set(block.parentHash, parent)
  }

  /** A hash that another process told, of the same chain: of one of the newest blocks. */
  #toldLately(hash: string): Told | null {
    for (let height = this.#head; height > Math.max(0, this.#head - ancestors); height--)
      this.block(height)
    return this.#told.get(hash) ?? null
  }

  #build(
    branch: number,
    height: number,
    clients: readonly SignedTransaction[],
    withOwn: boolean,
  ): MinedBlock {
    const baseFeeWei = gwei * (8 + (digest(this.seed, 'base-fee', height)[0]! % 16))
    const first = this.population.transactionsBefore(height)
    const own = Array.from(
      { length: withOwn ? this.population.transactionsIn(height) : 0 },
      (_, at) => {
        return draftOf(this, { branch, ordinal: first + at }, baseFeeWei)
      },
    )
    return buildBlock({
      seed: this.seed,
      height,
      branch,
      parentHash: this.#parentHash(branch, height),
      timestampSeconds: Math.max(
        0,
        Math.floor((this.#originMs + height * this.blockTimeMs) / 1000),
      ),
      baseFeeWei,
      drafts: [...own, ...clients.map((signed) => draftOfSigned(signed, baseFeeWei))],
    })
  }
}

/** A chain for tests, demos and benchmarks. */
export function createChainModel(options: ChainOptions = {}): ChainModel {
  return new ChainModel(options)
}

function placeKey(branch: number, height: number): string {
  return `${branch}/${height}`
}
