// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../../faults.ts'
import { RpcError } from '../../rpc-error.ts'
import { NodeView, type ViewSettings, wholeView } from '../node-view.ts'
import { answerRpc } from '../rpc-node.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../served-node.ts'
import { accountMethods } from './account-methods.ts'
import { blockMethods } from './block-methods.ts'
import type { SlotChain } from './chain.ts'
import type { SlotView } from './params.ts'
import { transactionMethods } from './transaction-methods.ts'

const methods = new Map(
  Object.entries({ ...blockMethods, ...accountMethods, ...transactionMethods }),
)

/** A node of the slot chain: JSON-RPC 2.0, errors with HTTP 200. */
export class SlotNode implements ChainNode {
  readonly view: SlotView
  readonly #faults: FaultSwitch

  constructor(chain: SlotChain, faults: FaultSwitch, settings: Partial<ViewSettings> = {}) {
    this.view = new NodeView(chain, { ...wholeView, ...settings })
    this.#faults = faults
  }

  answer(request: NodeRequest): NodeReply {
    const notFound = () => new RpcError(-32601, 'Method not found')
    return answerRpc(request, this.view, { methods, version: '2.0', notFound }, this.#faults)
  }
}
