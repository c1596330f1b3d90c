// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeCall } from '../simulation/wrong-answers.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { MinedBlock } from '../upstream-sim/block-builder.ts'

const hex = (number: number) => `0x${number.toString(16)}`

/** The highest block up to `height` that satisfies `is`. */
function blockWhere(chain: ChainModel, height: number, is: (mined: MinedBlock) => boolean) {
  for (let at = height; ; at -= 1) {
    const mined = chain.block(at)
    if (is(mined)) return mined
  }
}

/** Reads about blocks up to `height`, with every method that the spec checks, and others. */
export function readsAbout(chain: ChainModel, height: number): readonly Omit<NodeCall, 'id'>[] {
  const full = blockWhere(
    chain,
    height,
    ({ receipts }) =>
      receipts.length > 2 && receipts.filter(({ logs }) => logs.length > 1).length > 1,
  )
  const withLogs = full.receipts.find(({ logs }) => logs.length > 1)!
  const [log] = withLogs.logs
  const number = hex(full.height)
  const { hash } = full
  const transaction = withLogs.transactionHash
  const account = chain.population.accounts[0]!
  const contract = chain.population.contracts[0]!
  const range = { fromBlock: hex(full.height - 5), toBlock: hex(height) }
  return [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: [hex(height), false] },
    { method: 'eth_getBlockByNumber', params: [number, true] },
    { method: 'eth_getBlockByHash', params: [hash, false] },
    { method: 'eth_getBlockByHash', params: [hash, true] },
    { method: 'eth_getBlockReceipts', params: [number] },
    { method: 'eth_getBlockReceipts', params: [hash] },
    { method: 'eth_getTransactionByHash', params: [transaction] },
    { method: 'eth_getTransactionReceipt', params: [transaction] },
    { method: 'eth_getTransactionByBlockNumberAndIndex', params: [number, '0x1'] },
    { method: 'eth_getTransactionByBlockHashAndIndex', params: [hash, '0x1'] },
    { method: 'eth_getLogs', params: [range] },
    { method: 'eth_getLogs', params: [{ ...range, toBlock: 'latest' }] },
    { method: 'eth_getLogs', params: [{ ...range, address: log!.address }] },
    { method: 'eth_getLogs', params: [{ ...range, topics: [[log!.topics[0], hash], null] }] },
    { method: 'eth_getLogs', params: [{ fromBlock: number, toBlock: number }] },
    { method: 'eth_getLogs', params: [{ blockHash: hash, address: [account, log!.address] }] },
    { method: 'web3_sha3', params: ['0x68656c6c6f'] },
    { method: 'eth_getBalance', params: [account, number] },
    { method: 'eth_getTransactionCount', params: [account, number] },
    { method: 'eth_getCode', params: [contract, number] },
    { method: 'eth_call', params: [{ to: contract, data: '0x18160ddd' }, number] },
  ]
}
