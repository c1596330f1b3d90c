// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { revertData } from './chain-state.ts'
import type { ChainView } from './chain-view.ts'
import { intrinsicGas } from './drafts.ts'
import { toQuantity } from './hex.ts'
import { type Methods, type BlockRef, hexOf, type Params } from './params.ts'
import { RpcError } from './rpc-error.ts'

/** Balances, nonces, code, storage, and calls. */
export const stateMethods: Methods = {
  eth_getBalance: {
    maxParams: 2,
    run: (view, params) =>
      toQuantity(
        view.chain.state.balance(params.address(0), view.stateHeight(params.block(1, true))),
      ),
  },
  eth_getTransactionCount: {
    maxParams: 2,
    run(view, params) {
      const address = params.address(0)
      const ref = params.block(1, true)
      const mined = view.chain.state.nonce(address, view.stateHeight(ref))
      const pending = 'tag' in ref && ref.tag === 'pending'
      return toQuantity(mined + (pending ? view.chain.waitingOf(address) : 0))
    },
  },
  eth_getCode: {
    maxParams: 2,
    run(view, params) {
      view.stateHeight(params.block(1, true))
      return view.chain.state.code(params.address(0))
    },
  },
  eth_getStorageAt: {
    maxParams: 3,
    run: (view, params) =>
      view.chain.state.storage(
        params.address(0),
        slotOf(params),
        view.stateHeight(params.block(2, true)),
      ),
  },
  eth_call: {
    maxParams: 4,
    run(view, params) {
      const call = callOf(params)
      const height = view.stateHeight(blockOrLatest(params, 1))
      refuseReverting(view, call.to)
      return call.to === null ? '0x' : view.chain.state.call(call.to, call.data, height)
    },
  },
  eth_estimateGas: {
    maxParams: 3,
    run(view, params) {
      const call = callOf(params)
      view.stateHeight(blockOrLatest(params, 1))
      refuseReverting(view, call.to)
      const runs = call.to !== null && view.chain.state.code(call.to) !== '0x' ? 30_000 : 0
      return toQuantity(intrinsicGas(call.data, call.to === null) + runs)
    },
  },
}

function blockOrLatest(params: Params, at: number): BlockRef {
  return params.has(at) ? params.block(at, true) : { tag: 'latest' }
}

function callOf(params: Params): { to: string | null; data: string } {
  const call = params.object(0)
  const { to } = call
  const input = call['input'] ?? call['data'] ?? '0x'
  return {
    to: to === undefined || to === null ? null : hexOf(to, 20, 0, 'common.Address'),
    data: hexOf(input, null, 0, 'hexutil.Bytes'),
  }
}

function slotOf(params: Params): string {
  const slot = params.data(1)
  return slot === '0x' ? '0x0' : slot
}

function refuseReverting(view: ChainView, to: string | null): void {
  if (to !== view.chain.population.revertingContract) return
  throw new RpcError(3, 'execution reverted: always', revertData('always'))
}
