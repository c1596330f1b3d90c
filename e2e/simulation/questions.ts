// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { RequestPlan } from './schedule.ts'

/** A request as it is asked, and the lowest head of a node that can answer it. */
export interface Question {
  readonly params: readonly unknown[]
  /** Height of the newest block that the answer needs; null when any node can answer. */
  readonly neededBlock: number | null
}

const hex = (number: number) => `0x${number.toString(16)}`

/** What a plan asks at this moment of the chain. */
export function questionOf(plan: RequestPlan, chain: ChainModel): Question {
  const { method, depth, pick } = plan
  const { head, population } = chain
  const account = population.accounts[pick % population.accounts.length] as string
  const height = head - (depth ?? 0)
  const block = depth === null ? 'latest' : hex(height)
  const neededBlock = depth === null ? null : height
  switch (method) {
    case 'eth_getBalance':
      return { params: [account, block], neededBlock }
    case 'eth_call':
    case 'eth_estimateGas': {
      // One in eight asks a contract that always reverts.
      const to = pick === 0 ? population.revertingContract : population.contracts[pick]
      return { params: [{ to, data: '0x18160ddd' }, block], neededBlock }
    }
    case 'eth_getBlockByNumber':
      return { params: [block, pick % 2 === 0], neededBlock }
    case 'eth_getBlockReceipts':
      return { params: [block], neededBlock }
    case 'eth_getBlockByHash':
      return { params: [chain.block(height).hash, false], neededBlock: height }
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt': {
      const place = withTransactions(chain, height)
      const { hash } = place.transactions[pick % place.transactions.length]!
      return { params: [hash], neededBlock: place.height }
    }
    case 'eth_getLogs': {
      const fromBlock = hex(height - pick)
      const filter = pick % 2 === 0 ? {} : { address: population.contracts[pick] }
      return { params: [{ fromBlock, toBlock: block, ...filter }], neededBlock }
    }
    case 'eth_sendRawTransaction':
      return { params: [`0x${(pick * 1_000 + 0xabcdef).toString(16)}`], neededBlock: null }
    case 'debug_getRawHeader':
      return { params: [block], neededBlock }
    default:
      return { params: [], neededBlock: null }
  }
}

/** The newest block up to `height` that holds a transaction. */
function withTransactions(chain: ChainModel, height: number) {
  for (let at = height; ; at -= 1) {
    const { transactions } = chain.block(at).block
    if (transactions.length > 0) return { height: at, transactions }
  }
}
