// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getBytes, hexlify, keccak256 } from 'ethers'
import { describe, expect, it } from 'vitest'
import { BlockMemory } from './block-memory.ts'
import { hashOf, judged } from './testing/judged.ts'

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const place = { blockNumber: '0x10', blockHash: a, transactionHash: b, transactionIndex: '0x0' }
const log = (index: number, over: object = {}) => ({
  ...{ ...place, address: `0x${'1'.repeat(40)}`, topics: [c, a], data: '0x' },
  ...{ logIndex: `0x${index}`, ...over },
})
const noBloom = `0x${'00'.repeat(256)}`

/** By the yellow paper, section 4.3.1. */
function bloomOf(...members: readonly string[]): string {
  const bloom = new Uint8Array(256)
  for (const member of members) {
    const digest = getBytes(keccak256(member))
    for (const at of [0, 2, 4]) {
      const bit = ((digest[at]! << 8) | digest[at + 1]!) % 2048
      bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
    }
  }
  return hexlify(bloom)
}
const bloom = bloomOf(log(0).address, c, a)

const receipt = (over: object = {}) => ({
  ...place,
  status: '0x1',
  logs: [log(0)],
  logsBloom: bloom,
  ...over,
})
const many = Array.from({ length: 80 }, (_, at) =>
  log(at, { topics: [hashOf('0').slice(0, -2) + (at + 10)] }),
)

describe('a receipt', () => {
  it.each([
    ['with the logs of its bloom filter', receipt()],
    ['that spells it in capitals', receipt({ logsBloom: `0x${bloom.slice(2).toUpperCase()}` })],
    // Polygon and Erigon wrote zeros beside the logs of state-sync receipts.
    ['of a chain that has none', receipt({ logsBloom: noBloom })],
    ['with a status', receipt({ status: '0x1' })],
    ['of what failed', receipt({ status: '0x0', logs: [], logsBloom: noBloom })],
    ['from before Byzantium', receipt({ status: undefined, root: c })],
    ['from before it, of today', receipt({ status: undefined, root: c, type: '0x0' })],
    ['that created a contract', receipt({ to: null, contractAddress: `0x${'3'.repeat(40)}` })],
    ['that tells its price', receipt({ effectiveGasPrice: '0x1', type: '0x7e', root: c })],
    ['without logs', receipt({ logs: [], logsBloom: noBloom })],
    [
      'with more logs than are worth the digests',
      receipt({ logs: many.map((each, at) => ({ ...each, logIndex: `0x${at.toString(16)}` })) }),
    ],
    ['with a log without topics', receipt({ logs: [log(0, { topics: [] })], logsBloom: noBloom })],
  ])('%s is believed', (_, result) => {
    expect(judged('eth_getTransactionReceipt', [b], result)).toBeNull()
  })

  it.each([
    ['has no bloom filter', receipt({ logsBloom: undefined }), 'shape'],
    ['has null for it', receipt({ logsBloom: null }), 'shape'],
    ['has a filter of another size', receipt({ logsBloom: '0x00' }), 'shape'],
    ['has no logs', receipt({ logs: undefined }), 'shape'],
    ['has null for logs', receipt({ logs: null }), 'shape'],
    ['has an object for logs', receipt({ logs: {} }), 'shape'],
    ['has logs in another form', receipt({ logs: [1] }), 'shape'],
    ['has a log without topics', receipt({ logs: [log(0, { topics: null })] }), 'shape'],
    ['has a log with half a topic', receipt({ logs: [log(0, { topics: ['0x1'] })] }), 'shape'],
    ['has a log of no address', receipt({ logs: [log(0, { address: '' })] }), 'shape'],
    ['has a log of no data', receipt({ logs: [log(0, { data: 'x' })] }), 'shape'],
    ['has a log without an index', receipt({ logs: [log(0, { logIndex: null })] }), 'shape'],
    ['has no place in the block', receipt({ transactionIndex: undefined }), 'shape'],
    ['is of no block', receipt({ blockHash: null }), 'shape'],
    ['has a height that no chain has', receipt({ blockNumber: a, logs: [] }), 'shape'],
    ['has a status that is none', receipt({ status: 'maybe' }), 'shape'],
    ['has a sender that is none', receipt({ from: 'hello' }), 'shape'],
    ['has a receiver that is none', receipt({ to: 17 }), 'shape'],
    ['has a contract that is none', receipt({ contractAddress: '0x1' }), 'shape'],
    ['has a price that is none', receipt({ effectiveGasPrice: 'x' }), 'shape'],
    ['has a type that is none', receipt({ type: 'x' }), 'shape'],
    ['has a log of no time', receipt({ logs: [log(0, { blockTimestamp: 'x' })] }), 'shape'],
    ['is typed and tells a root alone', receipt({ status: null, root: c, type: '0x2' }), 'receipt'],
    ['has lost all logs', receipt({ logs: [] }), 'bloom'],
    ['has lost one', receipt({ logsBloom: bloomOf(log(0).address, c, a, b) }), 'bloom'],
    [
      'has a log of another address',
      receipt({ logs: [log(0, { address: `0x${'2'.repeat(40)}` })] }),
      'bloom',
    ],
    ['has a log with another topic', receipt({ logs: [log(0, { topics: [b, a] })] }), 'bloom'],
    ['has a log of another block', receipt({ logs: [log(0, { blockHash: c })] }), 'items-alike'],
    ['has a log twice', receipt({ logs: [log(0), log(0)] }), 'items-order'],
  ])('that %s is not', (_, result, check) => {
    expect(judged('eth_getTransactionReceipt', [b], result)?.check).toBe(check)
  })
})

describe('a receipt that does not tell how it ended', () => {
  const told = receipt()
  const untold = receipt({ status: undefined })
  const asking = () => {
    const memory = new BlockMemory()
    return (upstream: string, result: object) =>
      judged('eth_getTransactionReceipt', [b], result, { upstream, memory })?.certain ?? null
  }

  it.each([untold, receipt({ status: null, type: '0x2' })])(
    'is doubted until two say so',
    (own) => {
      const ask = asking()
      expect(['one', 'one', 'two', 'one', 'three'].map((each) => ask(each, own))).toEqual([
        ...[false, false, null, null, null],
      ])
    },
  )

  it('is doubted where anybody has ever told', () => {
    const ask = asking()
    expect([ask('one', untold), ask('two', told)]).toEqual([false, null])
    expect(['one', 'two', 'three'].map((each) => ask(each, untold))).toEqual([false, false, false])
  })

  it('is doubted again once somebody tells', () => {
    const ask = asking()
    expect([ask('one', untold), ask('two', untold), ask('one', untold)]).toEqual([
      false,
      null,
      null,
    ])
    ask('three', told)
    expect(ask('two', untold)).toBe(false)
  })
})

describe('the receipts of a block', () => {
  const second = { ...place, transactionIndex: '0x1', transactionHash: c }
  const other = { ...second, status: '0x1', logs: [{ ...log(1), ...second }], logsBloom: bloom }

  it('are believed with their logs, and with more of them than the first has', () => {
    expect(judged('eth_getBlockReceipts', ['0x10'], [receipt(), other])).toBeNull()
    expect(judged('eth_getBlockReceipts', ['0x10'], [])).toBeNull()
    const summed = { ...other, cumulativeGasUsed: '0x64' }
    expect(judged('eth_getBlockReceipts', ['0x10'], [receipt(), summed])).toBeNull()
  })

  it.each([
    ['a log of another transaction', [receipt(), { ...other, logs: [log(1)] }], 'items-alike'],
    ['a log twice', [receipt({ logs: [log(0), log(0)] }), other], 'items-order'],
    [
      'logs that are counted anew',
      [receipt(), { ...other, logs: [{ ...log(0), ...second }] }],
      'items-order',
    ],
    [
      'a log too few before another one',
      [receipt(), { ...other, logs: [{ ...log(2), ...second }] }],
      'items-order',
    ],
    ['a log without an index', [receipt({ logs: [log(0, { logIndex: null })] })], 'shape'],
    ['logs that are none', [receipt({ logs: [a] })], 'shape'],
    ['a log of no time', [receipt({ logs: [log(0, { blockTimestamp: 'x' })] })], 'shape'],
    ['a sender that is none', [receipt({ from: 'hello' })], 'shape'],
    ['a price that is none', [receipt({ effectiveGasPrice: 'x' })], 'shape'],
    ['a receipt that lost all logs', [receipt(), { ...other, logs: [] }], 'bloom'],
    ['the first one missing', [other], 'items-order'],
    [
      'a sum that falls',
      [receipt({ cumulativeGasUsed: '0x64' }), { ...other, cumulativeGasUsed: '0x32' }],
      'receipt',
    ],
  ])('%s', (_, result, check) => {
    expect(judged('eth_getBlockReceipts', ['0x10'], result)?.check).toBe(check)
  })
})

describe('the transactions of a block', () => {
  const transactionsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  const block = (over: object) => ({
    ...{ number: '0x10', hash: a, parentHash: b, gasUsed: '0x0', timestamp: '0x1' },
    transactions: [],
    ...over,
  })
  it.each([
    ['none, and no gas was used', { transactions: [], gasUsed: '0x0' }, undefined],
    ['none, and nothing is said of gas', { gasUsed: undefined }, 'shape'],
    ['none, though gas was used', { transactions: [], gasUsed: '0x5208' }, 'items-order'],
    ['none, in a block of no size', { size: 'x' }, 'shape'],
    ['none, in a block of no difficulty', { totalDifficulty: 'x' }, 'shape'],
    ['none, in a block that tells these', { size: '0x1', totalDifficulty: null }, undefined],
    [
      'one, though the root is that of none',
      { transactions: [a], transactionsRoot },
      'items-alike',
    ],
    ['none, of that root', { transactions: [], transactionsRoot }, undefined],
    ['none, of another root', { transactions: [], transactionsRoot: a }, undefined],
    ['each once', { transactions: [a, b], gasUsed: '0x5208' }, undefined],
    ['one of them twice', { transactions: [a, b, a], gasUsed: '0x5208' }, 'items-order'],
    ['in two spellings', { transactions: [a, `0x${a.slice(2).toUpperCase()}`] }, 'items-order'],
  ])('%s', (_, over, check) => {
    expect(judged('eth_getBlockByNumber', ['0x10', false], block(over))?.check).toBe(check)
  })

  it.each([
    ['latest', {}, 'shape'],
    ['latest', { number: null }, 'shape'],
    ['latest', block({}), undefined],
    ['earliest', block({ number: '0x0' }), undefined],
    ['finalized', { hash: a }, 'shape'],
    ['pending', { number: null, hash: null }, undefined],
    ['pending', { number: null, hash: 'soon' }, 'shape'],
  ])('a block for %s has a height: %j', (tag, result, check) => {
    expect(judged('eth_getBlockByNumber', [tag, false], result)?.check).toBe(check)
  })
})

describe('a withdrawal', () => {
  const address = `0x${'1'.repeat(40)}`
  const own = { index: '0x1', validatorIndex: '0x2', address, amount: '0x3' }
  const block = (withdrawals: unknown) => ({
    ...{ number: '0x10', hash: a, parentHash: b, gasUsed: '0x0', timestamp: '0x1' },
    ...{ transactions: [], withdrawalsRoot: c, withdrawals },
  })
  const found = (withdrawals: unknown) => [
    judged('eth_getBlockByNumber', ['0x10', false], block(withdrawals))?.check,
    judged('eth_getBlockByHash', [a, true], block(withdrawals))?.check,
  ]

  it.each([
    ['of no index', { index: 'x' }],
    ['of no validator', { validatorIndex: {} }],
    ['of no address', { address: a }],
    ['of a number for an amount', { amount: 5 }],
    ['without an amount', { amount: undefined }],
  ])('%s is none', (_, over) => {
    expect(found([own, { ...own, ...over }])).toEqual(['shape', 'shape'])
  })

  it('stands in a list', () => {
    expect(found('none')).toEqual(['shape', 'shape'])
    expect(found([own, own])).toEqual([undefined, undefined])
    expect(found(null)).toEqual([undefined, undefined])
  })
})
