// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import { FaultSwitch } from '../upstream-sim/faults.ts'
import { digest, toData, toQuantity } from '../upstream-sim/hex.ts'
import type { ChainView } from '../upstream-sim/chain-view.ts'
import { RpcError } from '../upstream-sim/json-rpc.ts'
import { blockOrHash, data, hash as hashOf, method } from '../upstream-sim/params.ts'
import type { Method } from '../upstream-sim/rpc-node.ts'
import { EthereumNode } from '../upstream-sim/sim-node.ts'
import type { NodeCall } from './wrong-answers.ts'
import { retainedBlocks, type PlannedFault, type UrlPlan } from './schedule.ts'

type Methods = Readonly<Record<string, Method<ChainView>>>

/** The schedule applies faults outside the node. */
const noFaults = new FaultSwitch(seededRandom(0))

/** One machine with its view of the chain. */
export class SimulatedNode {
  readonly #node: EthereumNode
  readonly #plan: UrlPlan
  readonly #oldestBlock: number
  /** Number of missing blocks while it is syncing. */
  #missing = 0

  constructor(plan: UrlPlan, chain: ChainModel) {
    const { isPruned, lagBlocks, addons } = plan
    this.#plan = plan
    const earliestState = isPruned ? chain.head - retainedBlocks : 0
    this.#oldestBlock = earliestState
    const methods = {
      ...ownMethods(plan),
      eth_syncing: ({ head }: ChainView) => this.isSyncing && { currentBlock: toQuantity(head) },
      ...(addons.includes('debug') ? debugMethods : {}),
    }
    this.#node = new EthereumNode({ chain, faults: noFaults, methods, lagBlocks, earliestState })
  }

  get head(): number {
    return this.#node.view.head
  }

  get isSyncing(): boolean {
    return this.#missing > 0
  }

  /** Applies the faults to its view of the chain. `branch`: null for the canonical branch. */
  apply(faults: readonly PlannedFault[], branch: number | null, nowMs: number): void {
    const { syncing, lagBlocks } = this.#plan
    const { blocks, perSecond } = syncing ?? { blocks: 0, perSecond: 0 }
    this.#missing = Math.max(0, Math.ceil(blocks - (perSecond * nowMs) / 1_000))
    const { settings } = this.#node.view
    settings.branch = branch
    settings.lagBlocks = lagBlocks + this.#missing
    for (const each of faults) if (each.kind === 'lag') settings.lagBlocks += each.blocks
    if (!faults.some(({ kind }) => kind === 'freeze')) settings.frozenAt = null
    else settings.frozenAt ??= this.#node.view.head
  }

  /** Whether it returns an empty answer although the chain has the block. */
  hasPruned({ method: name, params: [first] }: NodeCall): boolean {
    const block = (first as { fromBlock?: unknown } | undefined)?.fromBlock ?? first
    return name in emptyAnswers && Number(block) < this.#oldestBlock
  }

  /** The honest answer from this node's view of the chain. */
  answer(call: NodeCall): string {
    if (this.hasPruned(call))
      return JSON.stringify({ jsonrpc: '2.0', id: call.id, result: emptyAnswers[call.method] })
    return this.#node.reply({ isBatch: false, items: [call] }) as string
  }
}

/** A pruned node's answers about blocks that it lacks. Requests for their state fail. */
const emptyAnswers: Readonly<Record<string, unknown>> = {
  eth_getBlockByNumber: null,
  eth_getBlockReceipts: null,
  eth_getLogs: [],
}

/**
 * Methods that replace those of a served node. They recognise transactions by their bytes, since
 * decoding would cost more than all the rest.
 */
function ownMethods({ isForeign, preconfirms }: UrlPlan): Methods {
  const received = new Set<string>()
  return {
    eth_sendRawTransaction: method([data], (_view, raw) => {
      const hash = toData(digest(raw))
      if (received.has(hash)) throw new RpcError(-32000, 'already known')
      received.add(hash)
      return hash
    }),
    eth_getTransactionReceipt: method([hashOf], (view, hash) => {
      const found = preconfirms ? view.chain.find(hash) : null
      const isNext = found?.canonical && found.mined.height === view.head + 1
      if (isNext && found.index !== null) return found.mined.receipts[found.index]
      return view.transaction(hash)?.receipt ?? null
    }),
    eth_newBlockFilter: () => '0x1',
    eth_accounts: () => [],
    ...(isForeign ? { eth_chainId: () => '0x5' } : {}),
  }
}

const debugMethods: Methods = {
  debug_getRawHeader: method([blockOrHash], (view, ref) => view.block(ref)?.hash ?? null),
}
