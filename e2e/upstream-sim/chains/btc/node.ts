// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../../faults.ts'
import { RpcError } from '../../rpc-error.ts'
import { NodeView, type ViewSettings, wholeView } from '../node-view.ts'
import { answerRpc } from '../rpc-node.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../served-node.ts'
import type { BitcoinChain } from './chain.ts'
import { bitcoinMethods, bitcoinParamNames, type BitcoinView } from './methods.ts'

/** A Bitcoin node: JSON-RPC 1.0, errors with an HTTP status. */
export class BitcoinNode implements ChainNode {
  readonly view: BitcoinView
  readonly #faults: FaultSwitch
  readonly #methods = bitcoinMethods(new Set())

  constructor(chain: BitcoinChain, faults: FaultSwitch, settings: Partial<ViewSettings> = {}) {
    this.view = new NodeView(chain, { ...wholeView, ...settings })
    this.#faults = faults
  }

  answer(request: NodeRequest): NodeReply {
    return answerRpc(
      request,
      this.view,
      {
        methods: this.#methods,
        names: bitcoinParamNames,
        version: '1.0',
        notFound: () => new RpcError(-32601, 'Method not found'),
      },
      this.#faults,
    )
  }
}
