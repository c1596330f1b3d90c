// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import { draftOfSigned } from './drafts.ts'
import { toQuantity } from './hex.ts'
import { logsOf } from './log-filter.ts'
import type { Methods } from './params.ts'
import type { Block } from './shapes.ts'

/** Blocks, transactions, receipts and logs. */
export const blockMethods: Methods = {
  eth_blockNumber: { maxParams: 0, run: (view) => toQuantity(view.heightOf({ tag: 'latest' })!) },
  eth_getBlockByNumber: {
    maxParams: 2,
    run: (view, params) => asAnswer(view.block(params.block(0, false)), params.boolean(1)),
  },
  eth_getBlockByHash: {
    maxParams: 2,
    run: (view, params) => asAnswer(view.block({ hash: params.hash(0) }), params.boolean(1)),
  },
  eth_getBlockReceipts: {
    maxParams: 1,
    run: (view, params) => view.mined(params.block(0, true))?.receipts ?? null,
  },
  eth_getBlockTransactionCountByNumber: {
    maxParams: 1,
    run: (view, params) => count(view.block(params.block(0, false))),
  },
  eth_getBlockTransactionCountByHash: {
    maxParams: 1,
    run: (view, params) => count(view.block({ hash: params.hash(0) })),
  },
  eth_getTransactionByBlockNumberAndIndex: {
    maxParams: 2,
    run: (view, params) =>
      view.block(params.block(0, false))?.transactions[params.quantity(1)] ?? null,
  },
  eth_getTransactionByBlockHashAndIndex: {
    maxParams: 2,
    run: (view, params) =>
      view.block({ hash: params.hash(0) })?.transactions[params.quantity(1)] ?? null,
  },
  eth_getTransactionByHash: {
    maxParams: 1,
    run: (view, params) =>
      view.transaction(params.hash(0))?.transaction ?? waiting(view, params.hash(0)),
  },
  eth_getTransactionReceipt: {
    maxParams: 1,
    run: (view, params) => view.transaction(params.hash(0))?.receipt ?? null,
  },
  eth_getLogs: { maxParams: 1, run: (view, params) => logsOf(view, params.object(0)) },
}

function asAnswer(block: Block | null, whole: boolean): unknown {
  if (block === null || whole) return block
  return { ...block, transactions: block.transactions.map((transaction) => transaction.hash) }
}

function count(block: Block | null): string | null {
  return block === null ? null : toQuantity(block.transactions.length)
}

function waiting(view: ChainView, hash: string): unknown {
  const signed = view.chain.waiting(hash)
  if (signed === null) return null
  const { transaction } = draftOfSigned(signed, 0)
  return { ...transaction, blockHash: null, blockNumber: null, transactionIndex: null }
}
