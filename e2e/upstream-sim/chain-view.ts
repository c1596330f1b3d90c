// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { asPending, type MinedBlock, type Receipt, type Transaction } from './block-builder.ts'
import type { ChainModel } from './chain-model.ts'
import { digest, toData } from './hex.ts'
import { RpcError } from './json-rpc.ts'
import { NodeView, type ViewSettings } from './node-view.ts'
import type { BlockRef } from './params.ts'

/** Blocks behind the head. */
const depths = { latest: 0, pending: 0, safe: 32, finalized: 64, earliest: Infinity }

/** One node's view of the chain. A test may change it while the node runs. */
export interface EthereumViewSettings extends ViewSettings {
  /** State below is pruned: asking for it is a missing trie node. */
  earliestState: number
  /** The branch of the node if it differs from the others; null: the canonical one. */
  branch: number | null
}

/** The chain as one node sees it: behind, pruned, or off by a block as a fault. */
export class ChainView extends NodeView<ChainModel, EthereumViewSettings> {
  readonly #skewBlocks: number

  constructor(chain: ChainModel, settings: Partial<EthereumViewSettings> = {}, skewBlocks = 0) {
    // A view that is off by a block shares the settings of the node.
    const usual = { lagBlocks: 0, frozenAt: null, earliestState: 0, branch: null }
    super(chain, skewBlocks === 0 ? { ...usual, ...settings } : (settings as EthereumViewSettings))
    this.#skewBlocks = skewBlocks
  }

  /** The same view, answering about a block other than the one asked for. */
  skewed(): ChainView {
    return new ChainView(this.chain, this.settings, 1)
  }

  protected override get newest(): number {
    const { branch } = this.settings
    return branch === null ? this.chain.head : this.chain.headOf(branch)
  }

  /** The height that a reference means; null when this node has no such block. */
  heightOf(ref: BlockRef): number | null {
    if ('height' in ref) return ref.height <= this.head ? ref.height : null
    if ('hash' in ref) return this.byHash(ref.hash)?.height ?? null
    return Math.max(0, this.head - depths[ref.tag])
  }

  /** The block, `pending` included; null when this node has no such block. */
  block(ref: BlockRef): MinedBlock['block'] | ReturnType<typeof asPending> | null {
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
    return this.chain.block(this.#skew(height), this.settings.branch ?? undefined)
  }

  byHash(hash: string): MinedBlock | null {
    const found = this.chain.find(hash)
    if (found?.index !== null || found.mined.height > this.head) return null
    if (this.#skewBlocks !== 0) return this.at(found.mined.height)
    // A node on the canonical branch knows the other branches.
    if (this.settings.branch === null) return found.mined
    return this.at(found.mined.height).hash === found.mined.hash ? found.mined : null
  }

  /** A mined transaction with its receipt; null when this node has not seen it in a block. */
  transaction(hash: string): { transaction: Transaction; receipt: Receipt } | null {
    const found = this.chain.find(hash)
    if (!found?.canonical || found.index === null || found.mined.height > this.head) return null
    if (this.#skewBlocks !== 0) return this.#transactionBelow(found.mined.height)
    const { block, receipts } = found.mined
    return { transaction: block.transactions[found.index]!, receipt: receipts[found.index]! }
  }

  /** The height whose state is asked for. Throws geth's error when this node does not have it. */
  stateHeight(ref: BlockRef): number {
    const height = this.heightOf(ref)
    if (height === null)
      throw new RpcError(-32000, 'hash' in ref ? 'header for hash not found' : 'header not found')
    if (height < this.settings.earliestState) {
      const { stateRoot } = this.chain.block(height).block
      const node = toData(digest('trie-node', stateRoot)).slice(2)
      const words = `state ${stateRoot} is not available, not found`
      throw new RpcError(-32000, `missing trie node ${node} (path ) ${words}`)
    }
    return this.#skew(height)
  }

  #skew(height: number): number {
    return height > 0 ? height - this.#skewBlocks : this.#skewBlocks
  }

  #transactionBelow(height: number): { transaction: Transaction; receipt: Receipt } {
    const { block, receipts } = this.chain.block(height - 1)
    const [transaction] = block.transactions
    const [receipt] = receipts
    return transaction && receipt ? { transaction, receipt } : this.#transactionBelow(height - 1)
  }
}
