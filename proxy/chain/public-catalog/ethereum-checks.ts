// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place } from '../chain-spec.ts'
import type { CheckPath, CheckRule, Likeness, Shape } from '../check-rule.ts'

/*
 * The catalog has no checks. These hold on every chain that speaks Ethereum's JSON-RPC: an answer repeats what was asked
 * for, and is of the method's type. How blocks are numbered, linked and summed up differs from chain to chain, and is left
 * to specs of our own format.
 */

const param = (position: number): Place => ({ in: 'params', position, name: null, path: [] })

function block(number: CheckPath): CheckRule {
  return {
    ...{ check: 'block', place: null, number, hash: null, raw: null },
    ...{ older: 0, absent: null, optional: true, earliest: null },
  }
}

function identity(place: Place, result: CheckPath, as: Likeness): CheckRule {
  return { check: 'identity', place, result, as, each: false, optional: true }
}

const hash = (result: CheckPath) => identity(param(0), result, 'hash')
const index = identity(param(1), ['transactionIndex'], 'number')

function shape(as: Shape): CheckRule {
  const tables = { members: new Map(), secondNames: new Map() }
  return {
    check: 'shape',
    place: null,
    when: null,
    result: [],
    as,
    oneOf: null,
    isLenient: false,
    ...tables,
  }
}

const rules = new Map<string, readonly CheckRule[]>([
  [
    'eth_chainId',
    [
      {
        ...{ check: 'expected', place: null, height: null, verification: 'chain-id' },
        ...{ result: [], optional: false },
      },
      shape('quantity'),
    ],
  ],
  ['eth_blockNumber', [shape('height')]],
  ['eth_gasPrice', [shape('quantity')]],
  ['eth_getBalance', [shape('quantity')]],
  ['eth_getTransactionCount', [shape('quantity')]],
  ['eth_getCode', [shape('data')]],
  ['eth_call', [shape('data')]],
  ['eth_getBlockByNumber', [shape('object?'), block(['number'])]],
  ['eth_getBlockByHash', [shape('object?'), hash(['hash'])]],
  ['eth_getTransactionByHash', [shape('object?'), hash(['hash'])]],
  ['eth_getTransactionReceipt', [shape('object?'), hash(['transactionHash'])]],
  ['eth_getTransactionByBlockNumberAndIndex', [shape('object?'), block(['blockNumber']), index]],
  ['eth_getTransactionByBlockHashAndIndex', [shape('object?'), hash(['blockHash']), index]],
  // Some relays, such as Hedera's, number the logs of each transaction from 0 on.
  ['eth_getLogs', [shape('list'), { check: 'logs', place: param(0), indexIn: 'transaction' }]],
])

/** What an answer to a method of Ethereum's JSON-RPC must show, on whatever chain; nothing for other methods. */
export function ethereumChecks(method: string): readonly CheckRule[] {
  return rules.get(method) ?? []
}
