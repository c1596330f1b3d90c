// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../../faults.ts'
import { RpcError } from '../../rpc-error.ts'
import { NodeView, type ViewSettings, wholeView } from '../node-view.ts'
import { answerRpc } from '../rpc-node.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../served-node.ts'
import type { HubChain } from './chain.ts'
import type { HubView } from './shapes.ts'
import { tendermintMethods, tendermintNames } from './tendermint-methods.ts'

/** A node of the hub chain as Tendermint RPC shows it: JSON-RPC over POST, and paths over GET. */
export class HubTendermintNode implements ChainNode {
  readonly view: HubView
  readonly #faults: FaultSwitch

  constructor(chain: HubChain, faults: FaultSwitch, settings: Partial<ViewSettings> = {}) {
    this.view = new NodeView(chain, { ...wholeView, earliestBlock: 1, ...settings })
    this.#faults = faults
  }

  answer(request: NodeRequest): NodeReply {
    const call = request.verb === 'GET' ? callOfPath(request) : request
    const manner = {
      methods: tendermintMethods,
      names: tendermintNames,
      version: '2.0',
      notFound: () => new RpcError(-32601, 'Method not found'),
    } as const
    const reply = answerRpc(call, this.view, manner, this.#faults)
    const isError = request.verb === 'GET' && reply.body.includes('"error"')
    return isError ? { ...reply, status: 500 } : reply
  }
}

/** `GET /block?height=5` as a call. Texts stand in quotes there, bytes begin with 0x. */
function callOfPath({ path, query, ...request }: NodeRequest): NodeRequest {
  const params = Object.fromEntries(
    [...query].map(([name, value]) => {
      const bare = value.replace(/^"(.*)"$/s, '$1')
      if (!bare.startsWith('0x')) return [name, bare]
      return [name, name === 'tx' ? base64(bare) : bare.slice(2)]
    }),
  )
  const call = { jsonrpc: '2.0', id: -1, method: path.slice(1), params }
  return { ...request, verb: 'POST', path: '/', query, body: Buffer.from(JSON.stringify(call)) }
}

function base64(hex: string): string {
  return Buffer.from(hex.slice(2), 'hex').toString('base64')
}
