// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../checks.ts'

/*
 * The catalog has no checks. These hold on every chain that speaks Ethereum's JSON-RPC: an answer
 * repeats what was asked for.
 */

const identity = (member: string): CheckRule => ({ check: 'identity', param: 0, result: [member] })

const checks: ReadonlyMap<string, CheckRule[]> = new Map<string, CheckRule[]>([
  ['eth_getBlockByNumber', [{ check: 'block', number: ['number'] }]],
  ['eth_getBlockByHash', [identity('hash')]],
  ['eth_getTransactionByHash', [identity('hash')]],
  ['eth_getTransactionReceipt', [identity('transactionHash')]],
  ['eth_getTransactionByBlockNumberAndIndex', [{ check: 'block', number: ['blockNumber'] }]],
  ['eth_getTransactionByBlockHashAndIndex', [identity('blockHash')]],
  ['eth_getBlockReceipts', [{ check: 'block', each: true, number: ['blockNumber'] }]],
  ['eth_getLogs', [{ check: 'logs', param: 0 }]],
])

/** What an answer to a method of Ethereum's JSON-RPC must show, on whatever chain; nothing for other methods. */
export function ethereumChecks(method: string): CheckRule[] | undefined {
  return checks.get(method)
}
