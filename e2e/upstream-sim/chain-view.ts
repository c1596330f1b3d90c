// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { asPending } from './block-builder.ts'
import type { ChainModel } from './chain-model.ts'
import { headerNotFound, missingTrieNode, prunedHistory, RpcError } from './rpc-error.ts'
import type { BlockRef } from './params.ts'
import type { Block, MinedBlock, Receipt, Transaction } from './shapes.ts'

const safeDepthBlocks = 32
const finalizedDepthBlocks = 64

/** How one node sees the chain. A test may change it while the node runs. */
export interface ViewSettings {
  /** Blocks that the node is behind the chain's head. */
  lagBlocks: number
  /** The node's head does not rise above this height; null when it does. */
  frozenAt: number | null
  /** Blocks below are pruned: asking for one is error 4444. */
  earliestBlock: number
  /** State below is pruned: asking for it is a missing trie node. */
  earliestState: number
  /** The widest range of `eth_getLogs`. */
  maxLogRangeBlocks: number
  clientVersion: string
  /** The branch that the node is on while others are on another one; the canonical one when not said. */
  branch?: number | null
}

/** The chain as one node sees it: behind, pruned, or, when a fault says so, off by some blocks. */
export class ChainView {
  readonly chain: ChainModel
  readonly settings: ViewSettings
  readonly #skewBlocks: number

  constructor(chain: ChainModel, settings: ViewSettings, skewBlocks = 0) {
    this.chain = chain
    this.settings = settings
    this.#skewBlocks = skewBlocks
  }

  /** The same view, answering about a block other than the one asked for. */
  skewed(): ChainView {
    return new ChainView(this.chain, this.settings, 1)
  }

  get head(): number {
    const branch = this.#branch
    const newest = branch === null ? this.chain.head : this.chain.headOf(branch)
    const behind = Math.max(0, newest - this.settings.lagBlocks)
    return Math.min(behind, this.settings.frozenAt ?? behind)
  }

  /** The height that a reference means; null when this node has no such block. */
  heightOf(ref: BlockRef): number | null {
    if ('height' in ref) return ref.height <= this.head ? ref.height : null
    if ('hash' in ref) return this.byHash(ref.hash)?.height ?? null
    switch (ref.tag) {
      case 'earliest':
        return 0
      case 'safe':
        return Math.max(0, this.head - safeDepthBlocks)
      case 'finalized':
        return Math.max(0, this.head - finalizedDepthBlocks)
      case 'latest':
      case 'pending':
        return this.head
    }
  }

  /** The block, `pending` included; null when this node has no such block. */
  block(ref: BlockRef): Block | null {
    if ('tag' in ref && ref.tag === 'pending') return asPending(this.chain.pendingBlock(this.head))
    return this.mined(ref)?.block ?? null
  }

  /** The mined block with its receipts; null when this node has no such block. */
  mined(ref: BlockRef): MinedBlock | null {
    if ('hash' in ref) return this.byHash(ref.hash)
    const height = this.heightOf(ref)
    return height === null ? null : this.at(height)
  }

  /** The canonical block at a height that this node has. */
  at(height: number): MinedBlock {
    if (height < this.settings.earliestBlock) throw prunedHistory()
    const branch = this.#branch
    const at = this.#skew(height)
    return branch === null ? this.chain.block(at) : this.chain.blockOf(branch, at)
  }

  byHash(hash: string): MinedBlock | null {
    const found = this.chain.find(hash)
    if (found?.index !== null || found.mined.height > this.head) return null
    if (found.mined.height < this.settings.earliestBlock) throw prunedHistory()
    if (this.#skewBlocks !== 0) return this.at(found.mined.height)
    // Of other branches knows who is on the canonical one.
    if (this.#branch === null) return found.mined
    return this.at(found.mined.height).hash === found.mined.hash ? found.mined : null
  }

  /** A mined transaction with its receipt; null when this node has not seen it in a block. */
  transaction(hash: string): { transaction: Transaction; receipt: Receipt } | null {
    const found = this.chain.find(hash)
    if (!found?.canonical || found.index === null) return null
    const { height } = found.mined
    if (height > this.head) return null
    if (height < this.settings.earliestBlock) throw prunedHistory()
    if (this.#skewBlocks !== 0) return this.#anotherTransaction(hash, height)
    const transaction = found.mined.block.transactions[found.index]
    const receipt = found.mined.receipts[found.index]
    return transaction && receipt ? { transaction, receipt } : null
  }

  /** The height whose state is asked for. Throws geth's error when this node does not have it. */
  stateHeight(ref: BlockRef): number {
    const height = this.heightOf(ref)
    if (height === null) {
      if ('hash' in ref) throw new RpcError(-32000, 'header for hash not found')
      throw headerNotFound()
    }
    if (height < this.settings.earliestState)
      throw missingTrieNode(this.chain.block(height).block.stateRoot)
    return this.#skew(height)
  }

  get #branch(): number | null {
    return this.settings.branch ?? null
  }

  #skew(height: number): number {
    return this.#skewBlocks === 0 || height > 0 ? Math.abs(height - this.#skewBlocks) : 1
  }

  #anotherTransaction(hash: string, height: number) {
    for (let at = height; at >= Math.max(1, height - 20); at--) {
      const mined = this.chain.block(at)
      const index = mined.block.transactions.findIndex((one) => one.hash !== hash.toLowerCase())
      const transaction = mined.block.transactions[index]
      const receipt = mined.receipts[index]
      if (transaction && receipt) return { transaction, receipt }
    }
    return null
  }
}
