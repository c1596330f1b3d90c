// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { blockMethods } from './block-methods.ts'
import type { ChainModel } from './chain-model.ts'
import { ChainView, type ViewSettings } from './chain-view.ts'
import { applyAnswerFaults, type FaultSwitch } from './faults.ts'
import { type BadCall, replyText, type RpcCall, type RpcRequest } from './json-rpc.ts'
import { type Methods, Params } from './params.ts'
import { nodeMethods } from './node-methods.ts'
import { methodNotFound, RpcError } from './rpc-error.ts'
import { stateMethods } from './state-methods.ts'

export interface EthereumNodeOptions extends Partial<ViewSettings> {
  readonly chain: ChainModel
  readonly faults: FaultSwitch
  /** Methods beside the standard ones, or in their place: `debug_traceCall` and the like. */
  readonly methods?: Methods
}

/** A node without a wire: requests in, answers out. A simulation can ask it directly. */
export class EthereumNode {
  readonly view: ChainView
  readonly #faults: FaultSwitch
  readonly #methods: ReadonlyMap<string, Methods[string]>

  constructor({ chain, faults, methods = {}, ...settings }: EthereumNodeOptions) {
    this.#faults = faults
    this.view = new ChainView(chain, {
      lagBlocks: 0,
      frozenAt: null,
      earliestBlock: 0,
      earliestState: 0,
      maxLogRangeBlocks: 2_000,
      clientVersion: 'UpstreamSim/v1.0.0/linux-amd64',
      ...settings,
    })
    const known = { ...blockMethods, ...stateMethods, ...nodeMethods(new Set()), ...methods }
    this.#methods = new Map(Object.entries(known))
  }

  /** The body of the reply; null when the request holds notifications only. */
  answer(request: RpcRequest): string | null {
    const replies = request.items
      .map((item) => this.#reply(item))
      .filter((reply): reply is string => reply !== null)
    if (replies.length === 0) return null
    return request.isBatch ? `[${replies.join(',')}]` : replies[0]!
  }

  #reply(item: RpcCall | BadCall): string | null {
    if ('error' in item) return replyText(item.id, item.error)
    const faults = this.#faults.drawForCall(item.method)
    const skewed = faults.some((fault) => fault.kind === 'wrong-block')
    const outcome = this.#run(item, skewed ? this.view.skewed() : this.view)
    if (item.id === undefined) return null
    return applyAnswerFaults(faults, item, outcome)
  }

  #run(call: RpcCall, view: ChainView): { readonly result: unknown } | RpcError {
    const method = this.#methods.get(call.method)
    if (method === undefined) return methodNotFound(call.method)
    try {
      return { result: method.run(view, new Params(call.params, method.maxParams)) }
    } catch (error) {
      if (error instanceof RpcError) return error
      throw error
    }
  }
}
