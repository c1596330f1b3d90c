// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { systemClock } from '../../../proxy/clock/clock.ts'
import { ChainModel } from '../../upstream-sim/chain-model.ts'
import { type NodeRequest, serveNode } from '../../upstream-sim/served-node.ts'
import { EthereumNode } from '../../upstream-sim/sim-node.ts'
import { type NodeReply } from '../../upstream-sim/http-reply.ts'

/*
 * An Ethereum node that requires a valid key in the path: `/KEY`. `GET /accept/a,b` sets the valid
 * keys, and returns the number of uses per key since the last such request.
 */

class KeyedNode extends EthereumNode {
  #good = new Set<string>()
  #used: Record<string, number> = {}

  override answer(request: NodeRequest): NodeReply {
    const [, key = '', keys = ''] = request.path.split('/')
    const json = { contentType: 'application/json', methods: [] }
    if (key === 'accept') {
      const used = this.#used
      this.#used = {}
      this.#good = new Set(keys.split(','))
      return { ...json, status: 200, body: JSON.stringify(used) }
    }
    this.#used[key] = (this.#used[key] ?? 0) + 1
    return this.#good.has(key) ? super.answer(request) : { ...json, status: 401, body: '{}' }
  }
}

const chain = new ChainModel({ clock: systemClock })
await serveNode((faults) => new KeyedNode({ chain, faults }), { host: '0.0.0.0', port: 9001 })
