// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { hashOf, judged } from './testing/judged.ts'

/*
 * What honest nodes of other chains say: a chain that extends Ethereum's spec has its checks.
 */

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const address = `0x${'1'.repeat(40)}`
const block = { blockNumber: '0x10', blockHash: a }
const receipt = (index: number, over: object = {}) => ({
  ...{ ...block, transactionHash: [b, c][index], transactionIndex: `0x${index}` },
  ...{ from: address, to: address, contractAddress: null, status: '0x1', type: '0x0' },
  ...{ logs: [], logsBloom: `0x${'0'.repeat(512)}`, ...over },
})
const gas = (gasUsed: string, cumulativeGasUsed: string) => ({ gasUsed, cumulativeGasUsed })

/** Of zkSync Era and of Filecoin. */
const withoutSum = [
  receipt(0, { ...gas('0x1111', '0x0'), root: hashOf('0'), l1BatchNumber: '0x1' }),
  receipt(1, { ...gas('0x2222', '0x0'), root: hashOf('0'), type: '0xff' }),
]
const log = (index: number) => ({
  ...{ ...block, transactionHash: c, transactionIndex: '0x1', logIndex: `0x${index}` },
  ...{ address, topics: [a], data: '0x', removed: false },
})
/** Of a block of Polygon, which ends with the logs of its bridge. */
const withBridge = [
  receipt(0, gas('0x5208', '0x5208')),
  receipt(1, { ...gas('0x0', '0x0'), logs: [log(0), log(1)] }),
]
const ofBlock: [string, unknown[]] = ['eth_getBlockReceipts', ['0x10']]
const ofOne: [string, unknown[]] = ['eth_getTransactionReceipt', [b]]

describe('receipts', () => {
  it.each<[string, [string, unknown[]], unknown]>([
    ['a sum of zero', ofOne, withoutSum[0]],
    ['sums of zero', ofBlock, withoutSum],
    ['a bridge behind the others', ofBlock, withBridge],
    ['nothing but a bridge', ofOne, { ...withBridge[1], transactionHash: b, logs: [] }],
    // Arbitrum's first transaction is its own.
    ['none used at first', ofBlock, [receipt(0, gas('0x0', '0x0')), receipt(1, gas('0x5', '0x5'))]],
  ])('%s is believed', (_form, [method, params], result) => {
    expect(judged(method, params, result)).toBeNull()
  })

  it.each([
    ['the sum of the block in each, as of Hedera', gas('0x5', '0x9'), gas('0x4', '0x9')],
    ['a sum of zero beside gas, and beside other sums', gas('0x5', '0x5'), gas('0x4', '0x0')],
  ])('%s is only doubted', (_form, first, second) => {
    const found = judged('eth_getBlockReceipts', ['0x10'], [receipt(0, first), receipt(1, second)])
    expect(found).toMatchObject({ check: 'receipt', certain: false })
  })
})

/** Of Optimism before Bedrock, and of chains like it: the place in a queue. */
const queued = {
  ...{ hash: b, ...block, transactionIndex: '0x0', from: address, to: address, type: '0x0' },
  ...{ gas: '0x5208', gasPrice: '0x1', value: '0x0', input: '0x', nonce: '0x0' },
  ...{ v: '0x0', r: '0x0', s: '0x0', queueOrigin: 'sequencer', l1TxOrigin: null },
  ...{ l1BlockNumber: '0x1', l1Timestamp: '0x1', index: '0x69', queueIndex: null },
  rawTransaction: '0x',
}
const whole = {
  ...{ number: '0x10', hash: a, parentHash: b, gasUsed: '0x5208', timestamp: '0x1' },
  transactions: [queued],
}
const { queueOrigin: _queue, l1BlockNumber: _number, queueIndex: _index, ...unqueued } = queued
const transactionByPlace = 'eth_getTransactionByBlockNumberAndIndex'

describe('the place of a transaction in a queue', () => {
  const places: [string, unknown[], (transaction: object) => unknown][] = [
    ['eth_getTransactionByHash', [b], (transaction) => transaction],
    [transactionByPlace, ['0x10', '0x0'], (transaction) => transaction],
    [
      'eth_getBlockByNumber',
      ['0x10', true],
      (transaction) => ({ ...whole, transactions: [transaction] }),
    ],
  ]
  it.each(places)('is none in its block: %s', (method, params, made) => {
    for (const index of ['0x69', null])
      expect(judged(method, params, made({ ...queued, index }))?.check).not.toBe('shape')
  })

  it.each(places)('is one where nothing tells of a queue: %s', (method, params, made) => {
    for (const index of ['0x69', null])
      expect(judged(method, params, made({ ...unqueued, index }))?.check).toBe('shape')
    const repeated = made({ ...unqueued, index: '0x0' })
    expect(judged(method, params, repeated)?.check).not.toBe('shape')
  })
})
