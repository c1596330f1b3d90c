// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../../faults.ts'
import { NodeView, type ViewSettings, wholeView } from '../node-view.ts'
import { answerRest, RestError, type RestManner } from '../rest-node.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../served-node.ts'
import { type MoveChain, versionsPerBlock } from './chain.ts'
import { accountRoutes } from './account-routes.ts'
import { ledgerRoutes } from './ledger-routes.ts'
import { transactionRoutes } from './transaction-routes.ts'

export type MoveView = NodeView<MoveChain>

const manner: RestManner<MoveView> = {
  prefix: '/v1',
  routes: [...ledgerRoutes, ...accountRoutes, ...transactionRoutes],
  headersOf: (view) => ({
    'x-aptos-chain-id': String(view.chain.chainId),
    'x-aptos-ledger-version': String(view.chain.lastVersion(view.head)),
    'x-aptos-ledger-oldest-version': String(view.settings.earliestBlock * versionsPerBlock),
    'x-aptos-ledger-timestampusec': String(view.chain.wallMsOf(view.head) * 1000),
    'x-aptos-epoch': '9000',
    'x-aptos-block-height': String(view.head),
    'x-aptos-oldest-block-height': String(view.settings.earliestBlock),
  }),
  notFound: () =>
    new RestError(404, {
      message: 'Not Found',
      error_code: 'web_framework_error',
      vm_error_code: null,
    }),
  fault: (message) => ({ message, error_code: 'internal_error', vm_error_code: null }),
}

/** A node of the move chain: REST below /v1. */
export class MoveNode implements ChainNode {
  readonly view: MoveView
  readonly #faults: FaultSwitch

  constructor(chain: MoveChain, faults: FaultSwitch, settings: Partial<ViewSettings> = {}) {
    this.view = new NodeView(chain, { ...wholeView, ...settings })
    this.#faults = faults
  }

  answer(request: NodeRequest): NodeReply {
    return answerRest(request, this.view, manner, this.#faults)
  }
}
