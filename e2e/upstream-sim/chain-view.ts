// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { asPending, type MinedBlock, type Receipt, type Transaction } from './block-builder.ts'
import type { ChainModel } from './chain-model.ts'
import { digest, type Hex, toData } from './hex.ts'
import { RpcError } from './json-rpc.ts'
import { NodeView, type ViewSettings } from './node-view.ts'

/** Number of blocks behind the head, per tag. */
const depths = { latest: 0, pending: 0, safe: 32, finalized: 64, earliest: Infinity }

/** One node's view of the chain. A test may change it while the node runs. */
export interface EthereumViewSettings extends ViewSettings {
  /** State below this height is pruned: a request for it fails with `missing trie node`. */
  earliestState: number
  /** Branch of the node; null: the canonical branch. */
  branch: number | null
}

/** The chain as one node sees it, possibly behind or pruned. */
export class ChainView extends NodeView<ChainModel, EthereumViewSettings> {
  constructor(chain: ChainModel, settings: Partial<EthereumViewSettings> = {}) {
    super(chain, { lagBlocks: 0, frozenAt: null, earliestState: 0, branch: null, ...settings })
  }

  protected override get newest(): number {
    const { branch } = this.settings
    return branch === null ? this.chain.head : this.chain.headOf(branch)
  }

  /** The height of a block reference; null when this node does not have the block. */
  heightOf(ref: BlockRef): number | null {
    if ('height' in ref) return ref.height <= this.head ? ref.height : null
    if ('hash' in ref) return this.byHash(ref.hash)?.height ?? null
    return Math.max(0, this.head - depths[ref.tag])
  }

  /** The block of a reference, which may be `pending`; null when this node does not have it. */
  block(ref: BlockRef): MinedBlock['block'] | ReturnType<typeof asPending> | null {
    if ('tag' in ref && ref.tag === 'pending') return asPending(this.chain.pendingBlock(this.head))
    return this.mined(ref)?.block ?? null
  }

  /** A mined block with its receipts; null when this node does not have it. */
  mined(ref: BlockRef): MinedBlock | null {
    if ('hash' in ref) return this.byHash(ref.hash)
    const height = this.heightOf(ref)
    return height === null ? null : this.at(height)
  }

  /** The canonical block at a height that this node has. */
  at(height: number): MinedBlock {
    return this.chain.block(height, this.settings.branch ?? undefined)
  }

  byHash(hash: string): MinedBlock | null {
    const found = this.chain.find(hash)
    if (found?.index !== null || found.mined.height > this.head) return null
    // A node on the canonical branch knows the other branches.
    if (this.settings.branch === null) return found.mined
    return this.at(found.mined.height).hash === found.mined.hash ? found.mined : null
  }

  /** A mined transaction with its receipt; null when no block of this node has it. */
  transaction(hash: string): { transaction: Transaction; receipt: Receipt } | null {
    const found = this.chain.find(hash)
    if (!found?.canonical || found.index === null || found.mined.height > this.head) return null
    const { block, receipts } = found.mined
    return { transaction: block.transactions[found.index]!, receipt: receipts[found.index]! }
  }

  /** The height of a state request. @throws geth's error when this node does not have the state */
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
    return height
  }
}

/** A client's block reference. */
export type BlockRef =
  { readonly tag: keyof typeof depths } | { readonly height: number } | { readonly hash: Hex }
