// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One node's view of the chain. A test may change it while the node runs. */
export interface ViewSettings {
  /** Number of blocks behind the chain's head. */
  lagBlocks: number
  /** Maximum height of the node's head; null: no maximum. */
  frozenAt: number | null
}

/** The chain as one node sees it. */
export class NodeView<
  Chain extends { readonly head: number },
  Settings extends ViewSettings = ViewSettings,
> {
  readonly chain: Chain
  readonly settings: Settings

  constructor(chain: Chain, settings: Settings) {
    this.chain = chain
    this.settings = settings
  }

  get head(): number {
    const behind = Math.max(0, this.newest - this.settings.lagBlocks)
    return Math.min(behind, this.settings.frozenAt ?? behind)
  }

  protected get newest(): number {
    return this.chain.head
  }
}

/** The view of a node with these settings. By default it sees the whole chain. */
export function viewOf<Chain extends { readonly head: number }>(
  chain: Chain,
  settings: Partial<ViewSettings> = {},
): NodeView<Chain> {
  return new NodeView(chain, { lagBlocks: 0, frozenAt: null, ...settings })
}
