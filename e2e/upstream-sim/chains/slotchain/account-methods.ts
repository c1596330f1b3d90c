// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { SlotChain } from './chain.ts'
import { addressAt, inContext, slotAt, type SlotMethod } from './params.ts'

const systemProgram = '11111111111111111111111111111111'
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** Accounts, and the node and its cluster. */
export const accountMethods: Readonly<Record<string, SlotMethod>> = {
  getBalance: (view, params) => {
    const slot = slotAt(view, params, 1)
    return inContext(slot, view.chain.balance(addressAt(params, 0), slot))
  },
  getAccountInfo: (view, params) => {
    const slot = slotAt(view, params, 1)
    return inContext(slot, accountOf(view.chain, addressAt(params, 0), slot))
  },
  getMultipleAccounts: (view, params) => {
    const slot = slotAt(view, params, 1)
    const addresses = (params[0] as unknown[]).map((_, at) => addressAt(params[0] as unknown[], at))
    return inContext(
      slot,
      addresses.map((address) => accountOf(view.chain, address, slot)),
    )
  },

  getGenesisHash: (view) => view.chain.genesisHash,
  getHealth: (view) => {
    const numSlotsBehind = view.chain.head - view.head
    if (numSlotsBehind <= 128) return 'ok'
    throw new RpcError(-32005, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind })
  },
  getVersion: () => ({ 'feature-set': 3_271_415_109, 'solana-core': '3.0.0' }),
}

/** An account as a node shows it. */
export function accountOf(chain: SlotChain, address: string, slot: number) {
  const isProgram = address === systemProgram || address === tokenProgram
  return {
    lamports: chain.balance(address, slot),
    owner: isProgram ? 'NativeLoader1111111111111111111111111111111' : systemProgram,
    data: ['', 'base64'],
    executable: isProgram,
    rentEpoch: 2 ** 53 - 1,
    space: 0,
  }
}
