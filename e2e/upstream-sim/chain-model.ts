// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transaction as SignedTransaction } from 'ethers'
import { buildBlock, type MinedBlock } from './block-builder.ts'
import { ChainState, Population } from './chain-state.ts'
import { draftOf, draftOfSigned } from './drafts.ts'
import { type ChainOptions, GrowingChain } from './growing-chain.ts'
import { digest, type Hex, toData } from './hex.ts'

const rememberedBlocks = 4_096
/**
 * Every 256th block up to the first head has a fabricated parent hash, so that computing a hash
 * does not need all blocks from genesis. The last such block is `ancestors` below the first head.
 */
const segmentBlocks = 256
const ancestors = 32
const gwei = 1_000_000_000

export interface ChainModelOptions extends ChainOptions {
  /** Default: 1, Ethereum. */
  readonly chainId?: number
}

/** Cache of built blocks, shared by the thousands of chains with the same start. */
const built = new Map<string, MinedBlock>()

/** Location of a block, or of a transaction with its index. */
interface Known {
  readonly branch: number
  readonly height: number
  readonly index: number | null
}

/** A block, or a transaction with its index, found by its hash. */
export interface Found {
  readonly mined: MinedBlock
  readonly index: number | null
  /** False for a block that a reorganisation replaced. */
  readonly canonical: boolean
}

/**
 * A whole Ethereum chain as a function of its seed: no I/O, and no time except the injected clock.
 * It stores only reorganisations and client transactions. Nodes are views of it. An abandoned
 * branch retains its blocks, and may grow.
 */
export class ChainModel extends GrowingChain<SignedTransaction> {
  readonly chainId: number
  readonly population: Population
  readonly state: ChainState
  readonly #known = new Map<string, Known>()
  /** Blocks by branch and height. */
  readonly #mined = new Map<string, MinedBlock>()
  /** Height of the newest block of each abandoned branch. */
  readonly #tops = new Map<number, number>()
  readonly #firstHead: number
  /** Cache key prefix that chains with the same start share. */
  readonly #startKey: string

  constructor(options: ChainModelOptions = {}) {
    super(options, { blockTimeMs: 12_000, head: 20_000_000 })
    this.chainId = options.chainId ?? 1
    this.#firstHead = options.head ?? 20_000_000
    this.#startKey = [
      this.seed,
      this.chainId,
      this.#firstHead,
      this.wallMsOf(0),
      this.wallMsOf(1),
    ].join()
    this.population = new Population(this.seed)
    this.state = new ChainState(this.seed, this.population, (height) => this.sentUpTo(height))
  }

  /** The block of a branch at a height, which must not be above its newest block. */
  block(height: number, branch = this.branch): MinedBlock {
    return this.#block(this.branchAt(height, branch), height)
  }

  override reorg(depth: number): void {
    const [left, top] = [this.branch, this.head]
    super.reorg(depth)
    this.#tops.set(left, top)
  }

  /** Height of the newest block of a branch. */
  headOf(branch: number): number {
    return this.#tops.get(branch) ?? this.head
  }

  /** Adds a block to an abandoned branch, for nodes that are still on it. */
  mineOnLeft(branch: number): void {
    const top = this.#tops.get(branch)
    if (top !== undefined) this.#tops.set(branch, top + 1)
  }

  /** The block above `height` with the transactions of the pool. */
  pendingBlock(height: number): MinedBlock {
    return this.#build(this.branchAt(height), height + 1, this.waiting, false)
  }

  find(text: string): Found | null {
    const hash = text.toLowerCase()
    const height = this.sent(hash)?.height ?? null
    if (height !== null) {
      const mined = this.block(height)
      const index = mined.block.transactions.findIndex((one) => one.hash === hash)
      return { mined, index, canonical: true }
    }
    const known = this.#known.get(hash) ?? this.#findRecent(hash)
    if (known === null) return null
    const canonical = this.branchAt(known.height) === known.branch
    return { mined: this.#block(known.branch, known.height), index: known.index, canonical }
  }

  #block(branch: number, height: number): MinedBlock {
    const place = placeKey(branch, height)
    const known = this.#mined.get(place)
    if (known !== undefined) return known
    const clients = this.sentIn(height)
    // Initial blocks depend only on the seed; later blocks depend on their parents too.
    const isOfSeed = branch === 0 && height <= this.#firstHead
    const under = isOfSeed ? '' : (this.#parentHash(branch, height) ?? '')
    const key = `${this.#startKey} ${place}<${under} ${clients.map(({ hash }) => hash).join(' ')}`
    const mined = built.get(key) ?? this.#build(branch, height, clients, true)
    built.delete(key)
    built.set(key, mined)
    if (built.size > rememberedBlocks) built.delete(built.keys().next().value!)
    this.#remember(branch, mined)
    return mined
  }

  /** The parent's hash; null for genesis. */
  #parentHash(branch: number, height: number): Hex | null {
    if (height === 0) return null
    if (this.#beginsSegment(height)) return toData(digest(this.seed, 'far-parent', branch, height))
    // Builds from below, because the recursion would be deep after a long time without requests.
    const isKnown = (at: number) => this.#mined.has(placeKey(this.branchAt(at, branch), at))
    let lowest = height - 1
    while (lowest > this.#firstHead && !isKnown(lowest - 1)) lowest -= 1
    for (let at = lowest; at < height - 1; at++) this.block(at, branch)
    return this.block(height - 1, branch).hash
  }

  /** Whether the block's parent hash is fabricated. */
  #beginsSegment(height: number): boolean {
    return height <= this.#firstHead && (height + ancestors - this.#firstHead) % segmentBlocks === 0
  }

  #remember(branch: number, mined: MinedBlock): void {
    const { height, hash, block } = mined
    this.#mined.set(placeKey(branch, height), mined)
    this.#known.set(hash, { branch, height, index: null })
    for (const [index, transaction] of block.transactions.entries())
      this.#known.set(transaction.hash, { branch, height, index })
    if (height === 0 || this.#beginsSegment(height)) return
    const parent = { branch: this.branchAt(height - 1, branch), height: height - 1, index: null }
    this.#known.set(block.parentHash, parent)
  }

  /** Finds a hash in the newest blocks, which may come from the same chain in another process. */
  #findRecent(hash: string): Known | null {
    for (let height = this.head; height > Math.max(0, this.head - ancestors); height--)
      this.block(height)
    return this.#known.get(hash) ?? null
  }

  #build(
    branch: number,
    height: number,
    clients: readonly SignedTransaction[],
    withOwn: boolean,
  ): MinedBlock {
    const { seed } = this
    const baseFeeWei = gwei * (8 + (digest(seed, 'base-fee', height)[0]! % 16))
    const first = this.population.transactionsBefore(height)
    const own = Array.from(
      { length: withOwn ? this.population.transactionsIn(height) : 0 },
      (_, at) => draftOf(this, { branch, ordinal: first + at }, baseFeeWei),
    )
    const drafts = [...own, ...clients.map((signed) => draftOfSigned(signed, baseFeeWei))]
    const parentHash = this.#parentHash(branch, height)
    const timestampSeconds = Math.max(0, Math.floor(this.wallMsOf(height) / 1000))
    return buildBlock({ seed, height, branch, parentHash, timestampSeconds, baseFeeWei, drafts })
  }
}

/** A chain for tests, demos and benchmarks. */
export function createChainModel(options: ChainModelOptions = {}): ChainModel {
  return new ChainModel(options)
}

function placeKey(branch: number, height: number): string {
  return `${branch}/${height}`
}
