// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeCheck } from '../native/schema.ts'

/*
 * The catalog has no checks. These hold on every chain that speaks Ethereum's JSON-RPC: an answer repeats what was asked
 * for, and is of the method's type. How blocks are numbered, linked and summed up differs from chain to chain, and is left
 * to specs of our own format.
 */

const hash = (member: string): NativeCheck => ({
  ...{ check: 'identity', param: 0, result: [member], as: 'hash', optional: true },
})
const block = (member: string): NativeCheck => ({
  ...{ check: 'block', number: [member], optional: true },
})
const index: NativeCheck = {
  ...{ check: 'identity', param: 1, result: ['transactionIndex'], as: 'number', optional: true },
}
const quantity: NativeCheck = { check: 'shape', as: 'quantity' }
const data: NativeCheck = { check: 'shape', as: 'data' }
const object: NativeCheck = { check: 'shape', as: 'object?' }

const checks: ReadonlyMap<string, NativeCheck[]> = new Map([
  ['eth_chainId', [{ check: 'expected', verification: 'chain-id' }, quantity]],
  ['eth_blockNumber', [{ check: 'shape', as: 'height' }]],
  ['eth_gasPrice', [quantity]],
  ['eth_getBalance', [quantity]],
  ['eth_getTransactionCount', [quantity]],
  ['eth_getCode', [data]],
  ['eth_call', [data]],
  ['eth_getBlockByNumber', [object, block('number')]],
  ['eth_getBlockByHash', [object, hash('hash')]],
  ['eth_getTransactionByHash', [object, hash('hash')]],
  ['eth_getTransactionReceipt', [object, hash('transactionHash')]],
  ['eth_getTransactionByBlockNumberAndIndex', [object, block('blockNumber'), index]],
  ['eth_getTransactionByBlockHashAndIndex', [object, hash('blockHash'), index]],
  // Some relays, such as Hedera's, number the logs of each transaction from 0 on.
  [
    'eth_getLogs',
    [
      { check: 'shape', as: 'list' },
      { check: 'logs', param: 0, 'index-in': 'transaction' },
    ],
  ],
])

/** What an answer to a method of Ethereum's JSON-RPC must show, on whatever chain; nothing for other methods. */
export function ethereumChecks(method: string): NativeCheck[] | undefined {
  return checks.get(method)
}
