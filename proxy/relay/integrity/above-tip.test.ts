// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { BlockMemory } from './block-memory.ts'
import { hashOf, judged } from './testing/judged.ts'

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const address = `0x${'1'.repeat(40)}`
const place = { blockNumber: '0x10', blockHash: a, transactionIndex: '0x0' }
const log = (over: object = {}) => ({
  ...{ ...place, transactionHash: b, logIndex: '0x0' },
  ...{ address, topics: [c], data: '0x' },
  ...over,
})
const second = { blockNumber: '0x11', blockHash: b, transactionHash: c }
const transaction = (over: object = {}) => ({
  ...{ ...place, hash: b, from: address, to: null, type: '0x77' },
  ...over,
})
const receipt = (over: object = {}) => ({
  ...{ ...place, transactionHash: b, status: '0x1', logs: [] },
  ...{ logsBloom: `0x${'00'.repeat(256)}` },
  ...over,
})
const open = [{ fromBlock: '0x1', toBlock: 'latest' }]
const horizon = 0x12
/** Two have shown that transactions of that type are like this one, so none is doubted for its type. */
const newMemory = () => {
  const memory = new BlockMemory()
  for (const upstream of ['one', 'two'])
    judged('eth_getTransactionByHash', [b], transaction(), { memory, upstream })
  return memory
}
const isCertain = (method: string, params: unknown, result: unknown, memory = newMemory()) =>
  judged(method, params, result, { horizon, memory, upstream: 'liar' })?.certain ?? null

describe('an answer about what cannot be yet', () => {
  it.each<[string, string, unknown[], unknown, boolean | null]>([
    [
      'logs up to the horizon',
      'eth_getLogs',
      open,
      [log(), log({ ...second, blockNumber: '0x12' })],
      null,
    ],
    [
      'a log above it',
      'eth_getLogs',
      open,
      [log(), log({ ...second, blockNumber: '0x13' })],
      false,
    ],
    [
      'a transaction above it',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockNumber: '0x13' }),
      false,
    ],
    [
      'a receipt above it',
      'eth_getTransactionReceipt',
      [b],
      receipt({ blockNumber: '0x13' }),
      false,
    ],
    [
      'a transaction of no block',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockHash: null }),
      false,
    ],
    [
      'a transaction of no height',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockNumber: null }),
      false,
    ],
    [
      'a transaction without a height',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockNumber: undefined }),
      false,
    ],
    [
      'a transaction that waits, as of Kaia',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockHash: hashOf('0'), blockNumber: null }),
      null,
    ],
    [
      'a transaction that waits',
      'eth_getTransactionByHash',
      [b],
      transaction({ blockHash: null, blockNumber: null, transactionIndex: null }),
      null,
    ],
  ])('%s', (_case, method, params, result, certain) => {
    expect(isCertain(method, params, result)).toBe(certain)
  })

  it('is not doubted where the tip is not known', () => {
    const high = [log({ blockNumber: '0xffffff' })]
    expect(judged('eth_getLogs', open, high)).toBeNull()
  })
})

describe('an answer that only a few would give', () => {
  it.each<[string, string, unknown[], unknown, boolean | null]>([
    ['a log with five topics', 'eth_getLogs', open, [log({ topics: [a, a, a, a, a] })], true],
    ['a log with four', 'eth_getLogs', open, [log({ topics: [a, a, a, a] })], null],
    ['a log with half a byte', 'eth_getLogs', open, [log({ data: '0x1' })], false],
    [
      'a transaction in two blocks',
      'eth_getLogs',
      open,
      [log(), log({ ...second, transactionHash: b })],
      false,
    ],
    ['two transactions', 'eth_getLogs', open, [log(), log(second)], null],
    [
      'zeros for a transaction',
      'eth_getLogs',
      open,
      [log({ transactionHash: hashOf('0') }), log({ ...second, transactionHash: hashOf('0') })],
      null,
    ],
    [
      'a receipt without status',
      'eth_getTransactionReceipt',
      [b],
      receipt({ status: undefined }),
      false,
    ],
    [
      'one before Byzantium',
      'eth_getTransactionReceipt',
      [b],
      receipt({ status: undefined, root: c }),
      null,
    ],
    ['a receipt of status 7', 'eth_getTransactionReceipt', [b], receipt({ status: '0x7' }), true],
    [
      'a log taken back',
      'eth_getTransactionReceipt',
      [b],
      receipt({ logs: [log({ removed: true })] }),
      true,
    ],
    [
      'receipts without status',
      'eth_getBlockReceipts',
      ['0x10'],
      [receipt({ status: null })],
      false,
    ],
  ])('%s', (_case, method, params, result, certain) => {
    expect(isCertain(method, params, result)).toBe(certain)
  })

  it('the first block of a node whose history is cut', () => {
    const block = { number: '0x5', hash: a, parentHash: b, timestamp: '0x1' }
    const header = { ...block, fromTheFuture: '0x1' }
    const asked = (at: object) =>
      judged('eth_getHeaderByNumber', ['earliest'], { ...header, ...at })
    expect(asked({})).toMatchObject({ check: 'block-number', certain: false })
  })
})

describe('another height for a block that was shown', () => {
  const other = '0x2'
  it.each<[string, string, unknown[], unknown]>([
    ['of a transaction', 'eth_getTransactionByHash', [b], transaction({ blockNumber: other })],
    ['of a receipt', 'eth_getTransactionReceipt', [b], receipt({ blockNumber: other })],
    ['of the first log', 'eth_getLogs', open, [log({ blockNumber: other })]],
    [
      'of a later log',
      'eth_getLogs',
      open,
      [log({ blockNumber: '0x1', blockHash: c, transactionHash: a }), log({ blockNumber: other })],
    ],
    ['of receipts', 'eth_getBlockReceipts', ['0x2'], [receipt({ blockNumber: other })]],
  ])('%s is refused', (_case, method, params, result) => {
    const memory = newMemory()
    memory.prove(a.slice(2), 16, b.slice(2))
    expect(isCertain(method, params, result, memory)).toBe(true)
  })

  it('is a lie where the block itself was shown with what its hash is made from', () => {
    const memory = new BlockMemory()
    memory.prove(a.slice(2), 16, b.slice(2))
    const late = [
      log({ blockNumber: '0x1', blockHash: c, transactionHash: a }),
      log({ blockNumber: other }),
    ]
    expect(isCertain('eth_getLogs', open, late, memory)).toBe(true)
  })
})
