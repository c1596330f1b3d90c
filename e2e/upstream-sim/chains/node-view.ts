// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { GrowingChain } from './growing-chain.ts'

/** How one node sees the chain. A test may change it while the node runs. */
export interface ViewSettings {
  /** Blocks that the node is behind the chain's head. */
  lagBlocks: number
  /** The node's head does not rise above this height; null when it does. */
  frozenAt: number | null
  /** Blocks below are pruned. */
  earliestBlock: number
}

export const wholeView: ViewSettings = { lagBlocks: 0, frozenAt: null, earliestBlock: 0 }

/** The chain as one node sees it: behind, pruned, or, when a fault says so, off by a block. */
export class NodeView<Chain extends GrowingChain<unknown>> {
  readonly chain: Chain
  readonly settings: ViewSettings
  readonly #skewBlocks: number

  constructor(chain: Chain, settings: ViewSettings, skewBlocks = 0) {
    this.chain = chain
    this.settings = settings
    this.#skewBlocks = skewBlocks
  }

  get head(): number {
    const behind = Math.max(0, this.chain.head - this.settings.lagBlocks)
    return Math.min(behind, this.settings.frozenAt ?? behind)
  }

  /** Whether the node has the block at this height. */
  has(height: number): boolean {
    return height >= this.settings.earliestBlock && height <= this.head
  }

  /** The height about which the node answers when it is asked for this one. */
  answered(height: number): number {
    return this.#skewBlocks === 0 ? height : Math.max(1, Math.abs(height - this.#skewBlocks))
  }

  /** The same view, answering about a block other than the one asked for. */
  skewed(): NodeView<Chain> {
    return new NodeView(this.chain, this.settings, 1)
  }
}
