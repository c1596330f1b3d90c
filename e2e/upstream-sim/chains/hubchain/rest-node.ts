// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../../faults.ts'
import { NodeView, type ViewSettings, wholeView } from '../node-view.ts'
import { answerRest, RestError, type RestManner } from '../rest-node.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../served-node.ts'
import type { HubChain } from './chain.ts'
import { restRoutes } from './rest-routes.ts'
import type { HubView } from './shapes.ts'

/** Whose names the paths of a node have: `/cosmos/...` or `/sdk/...`. */
export type PathNames = 'world' | 'neutral'

/** A node of the hub chain as its REST gateway shows it. */
export class HubRestNode implements ChainNode {
  readonly view: HubView
  readonly #faults: FaultSwitch
  readonly #manner: RestManner<HubView>

  constructor(
    chain: HubChain,
    faults: FaultSwitch,
    { names = 'world', ...settings }: Partial<ViewSettings> & { names?: PathNames } = {},
  ) {
    this.view = new NodeView(chain, { ...wholeView, earliestBlock: 1, ...settings })
    this.#faults = faults
    this.#manner = {
      prefix: '',
      routes: restRoutes(names === 'world' ? '/cosmos' : '/sdk'),
      headersOf: (view) => ({ 'grpc-metadata-x-cosmos-block-height': String(view.head) }),
      notFound: () => new RestError(501, { code: 12, message: 'Not Implemented', details: [] }),
      fault: (message) => ({ code: 13, message, details: [] }),
    }
  }

  answer(request: NodeRequest): NodeReply {
    return answerRest(request, this.view, this.#manner, this.#faults)
  }
}
