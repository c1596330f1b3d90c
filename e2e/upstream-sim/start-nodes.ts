// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../proxy/clock/clock.ts'
import { createChainModel } from './chain-model.ts'
import { BitcoinChain } from './chains/btc/chain.ts'
import { BitcoinNode } from './chains/btc/node.ts'
import type { GrowingChainOptions } from './chains/growing-chain.ts'
import { HubChain } from './chains/hubchain/chain.ts'
import { HubRestNode } from './chains/hubchain/rest-node.ts'
import { HubTendermintNode } from './chains/hubchain/tendermint-node.ts'
import { MoveChain } from './chains/movechain/chain.ts'
import { MoveNode } from './chains/movechain/node.ts'
import { serveNode } from './chains/served-node.ts'
import { SlotChain } from './chains/slotchain/chain.ts'
import { SlotNode } from './chains/slotchain/node.ts'
import type { NodeServer } from './node-server.ts'
import { startSimNode } from './sim-node.ts'

/** What the nodes of one command have in common. */
export interface SharedChainOptions {
  readonly seed: string
  readonly clock: Clock
  /** The chain's own where it is left out. */
  readonly blockTimeMs?: number
  /** Of Ethereum's. */
  readonly chainId: number
}

/** Starts one more node of the chain. */
type StartNode = (name: string, port: number) => Promise<NodeServer>

const usualBlockTimeMs = 12_000

/** The chains that can be simulated, each by the name of its interface where it has several. */
export const simulatedChains: Readonly<Record<string, (options: SharedChainOptions) => StartNode>> =
  {
    eth({ blockTimeMs = usualBlockTimeMs, ...options }) {
      const chain = createChainModel({ ...options, blockTimeMs })
      return (name, port) => startSimNode({ chain, name, port })
    },
    btc(options) {
      const chain = new BitcoinChain(growing(options))
      return (name, port) => serveNode((faults) => new BitcoinNode(chain, faults), { name, port })
    },
    slot(options) {
      const chain = new SlotChain(growing(options))
      return (name, port) => serveNode((faults) => new SlotNode(chain, faults), { name, port })
    },
    move(options) {
      const chain = new MoveChain(growing(options))
      return (name, port) => serveNode((faults) => new MoveNode(chain, faults), { name, port })
    },
    'hub-rest'(options) {
      const chain = new HubChain(growing(options))
      return (name, port) => serveNode((faults) => new HubRestNode(chain, faults), { name, port })
    },
    'hub-tendermint'(options) {
      const chain = new HubChain(growing(options))
      return (name, port) =>
        serveNode((faults) => new HubTendermintNode(chain, faults), { name, port })
    },
  }

/** Ethereum's number is no other chain's. */
function growing({ seed, clock, blockTimeMs }: SharedChainOptions): GrowingChainOptions {
  return { seed, clock, ...(blockTimeMs === undefined ? {} : { blockTimeMs }) }
}
