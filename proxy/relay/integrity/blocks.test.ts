// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { respelled } from '../../json/testing/escaped.ts'
import { BlockMemory } from './block-memory.ts'
import { hashOf, judged } from './testing/judged.ts'

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const tx = (over: object = {}) => ({
  hash: hashOf('7'),
  blockHash: a,
  blockNumber: '0x10',
  transactionIndex: '0x0',
  from: `0x${'f'.repeat(40)}`,
  ...over,
})
const next = { hash: hashOf('8'), transactionIndex: '0x1' }
const block = (over: object = {}) => ({
  number: '0x10',
  hash: a,
  parentHash: b,
  gasUsed: '0x0',
  timestamp: '0x1',
  transactions: [],
  ...over,
})
const trace = { blockNumber: 16, blockHash: a }
const twice = block({ transactions: [tx(), tx({ transactionIndex: '0x1' })] })
const byNumber = 'eth_getBlockByNumber'
const byHash = 'eth_getBlockByHash'
const receipts = 'eth_getBlockReceipts'
const logsBloom = `0x${'00'.repeat(256)}`
const receipt = (index: number, over: object = {}) => ({
  transactionHash: hashOf(index.toString(16)),
  blockHash: a,
  blockNumber: '0x10',
  transactionIndex: `0x${index.toString(16)}`,
  logs: [],
  logsBloom,
  status: '0x1',
  ...over,
})

const twoReceipts = [receipt(0), receipt(1, { transactionHash: receipt(0).transactionHash })]

const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
const noWithdrawals = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const miner = `0x${'1'.repeat(40)}`
const withdrawals = [{ index: '0x1', validatorIndex: '0x2', address: miner, amount: '0x3' }]

describe('a list of which the header has the root', () => {
  it.each([
    ['uncles that the header has not', { sha3Uncles: noUncles, uncles: [b] }, true],
    ['uncles that are left out', { sha3Uncles: c, uncles: [] }, true],
    ['withdrawals that it has not', { withdrawalsRoot: noWithdrawals, withdrawals }, true],
    // Chains of the OP stack have another root there.
    ['no withdrawals that it has', { withdrawalsRoot: c, withdrawals: [] }, false],
  ])('%s', (_, members, certain) => {
    for (const [method, asked] of [
      [byNumber, '0x10'],
      [byHash, a],
    ] as const)
      expect(judged(method, [asked, false], block(members))).toMatchObject({
        check: 'items-alike',
        certain,
      })
  })

  it.each([
    ['no uncles', { sha3Uncles: noUncles, uncles: [] }],
    ['a root in capitals', { sha3Uncles: `0x${noUncles.slice(2).toUpperCase()}`, uncles: [] }],
    ['uncles', { sha3Uncles: c, uncles: [b] }],
    ['no withdrawals', { withdrawalsRoot: noWithdrawals, withdrawals: [] }],
    ['withdrawals', { withdrawalsRoot: c, withdrawals }],
    ['no list', { sha3Uncles: c, withdrawalsRoot: c, withdrawals: null }],
    ['no root', { uncles: [b], withdrawals, withdrawalsRoot: null }],
    ['a root of zeros', { sha3Uncles: hashOf('0'), uncles: [], withdrawalsRoot: '0x' }],
  ])('%s may be', (_, members) => {
    expect(judged(byHash, [a, false], block(members))).toBeNull()
  })
})

describe('a lie about a block', () => {
  it.each([
    ['another height', byNumber, ['0x10', false], block({ number: '0x11' }), 'block-number'],
    ['no height', byNumber, ['0x10', false], { hash: a }, 'block-number'],
    ['null for the height', byNumber, ['0x10'], block({ number: null }), 'block-number'],
    ['a height that is none', byNumber, ['0x10'], block({ number: '0x' }), 'block-number'],
    ['by name', byNumber, { block: '0x10' }, block({ number: '0x1' }), 'block-number'],
    ['a text for a block', byNumber, ['0x10'], '"0x10"', 'block-number'],
    ['a list for a block', byNumber, ['0x10'], [block()], 'block-number'],
    ['another hash', byHash, [a, false], block({ hash: b }), 'block-hash'],
    ['half a hash', byHash, [a], block({ hash: a.slice(0, 40) }), 'block-hash'],
    [
      'the true height, and then another',
      byNumber,
      ['0x10'],
      '{"number":"0x10","number":"0x11"}',
      'block-number',
    ],
    [
      'a transaction of another block',
      byNumber,
      ['0x10', true],
      block({ transactions: [tx({ blockHash: b })] }),
      'items-alike',
    ],
    [
      'a transaction of another height',
      byHash,
      [a, true],
      block({ transactions: [tx({ blockNumber: '0x11' })] }),
      'items-alike',
    ],
    [
      'a transaction left out',
      byNumber,
      ['0x10', true],
      block({ transactions: [tx(), tx({ ...next, transactionIndex: '0x2' })] }),
      'items-order',
    ],
    ['transactions that are none', byNumber, ['0x10'], block({ transactions: {} }), 'shape'],
    ['a transaction twice', byNumber, ['0x10', true], twice, 'items-order'],
    ['a receipt twice, with a place of its own', receipts, ['0x10'], twoReceipts, 'items-order'],
    ['no hash', byNumber, ['0x10'], block({ hash: undefined }), 'shape'],
    ['null for the hash', byNumber, ['0x10'], block({ hash: null }), 'shape'],
    ['null for the hash of latest', byNumber, ['latest'], block({ hash: null }), 'shape'],
    ['a number where hex stands', byNumber, ['0x10'], block({ number: 16 }), 'shape'],
    ['a height that no chain has', byNumber, ['latest'], block({ number: a }), 'shape'],
    ['no parent', byHash, [a], block({ parentHash: null }), 'shape'],
    ['a parent that is none', byHash, [a], block({ parentHash: '0x1' }), 'shape'],
    ['no gas', byHash, [a], block({ gasUsed: undefined, transactions: [] }), 'shape'],
    ['no transactions', byHash, [a], block({ transactions: undefined }), 'shape'],
    ['null for the transactions', byHash, [a], block({ transactions: null }), 'shape'],
    ['uncles that are none', byHash, [a], block({ uncles: 'x' }), 'shape'],
    ['hashes for transactions', byHash, [a, true], block({ transactions: [b] }), 'shape'],
    ['transactions for hashes', byHash, [a, false], block({ transactions: [tx()] }), 'shape'],
    ['both', byHash, [a, 'x'], block({ transactions: [tx(), b] }), 'shape'],
    ['both, the other way round', byHash, [a], block({ transactions: [b, tx()] }), 'shape'],
    ['hashes that are none', byHash, [a], block({ transactions: ['x'] }), 'shape'],
    [
      'transactions without a place',
      byHash,
      [a, true],
      block({ transactions: [tx({ transactionIndex: null })] }),
      'shape',
    ],
    ['a header without a hash', 'eth_getHeaderByNumber', ['0x10'], { number: '0x10' }, 'shape'],
    ['an uncle without a hash', 'eth_getUncleByBlockHashAndIndex', [a, '0x0'], {}, 'shape'],
    ['a list of hashes for receipts', receipts, ['0x10'], [a, b], 'shape'],
    ['a text for receipts', receipts, ['0x10'], '"x"', 'shape'],
    ['a receipt of no block', receipts, ['0x10'], [receipt(0, { blockHash: null })], 'shape'],
    ['a receipt without a place', receipts, [a], [receipt(0, { transactionIndex: 0 })], 'shape'],
    ['receipts without logs', receipts, ['0x10'], [receipt(0, { logs: null })], 'shape'],
    ['receipts with a short bloom', receipts, [a], [receipt(0, { logsBloom: '0x00' })], 'shape'],
    ['a count that is none', 'eth_getBlockTransactionCountByNumber', ['0x10'], '"many"', 'shape'],
    ['a count of uncles', 'eth_getUncleCountByBlockHash', [a], '[]', 'shape'],
    ['another network', 'net_version', [], '"56"', 'chain'],
    ['null for the network', 'net_version', [], 'null', 'chain'],
    ['a trace of no block', 'trace_block', ['0x10'], [{ blockHash: a }], 'shape'],
    ['null for traces', 'trace_filter', [{}], 'null', 'shape'],
    [
      'an uncle too young',
      'eth_getUncleByBlockNumberAndIndex',
      ['0x10', '0x0'],
      block(),
      'block-number',
    ],
    [
      'an uncle too old',
      'eth_getUncleByBlockNumberAndIndex',
      ['0x10', '0x0'],
      block({ number: '0x9' }),
      'block-number',
    ],
    [
      'a transaction by another index',
      'eth_getTransactionByBlockNumberAndIndex',
      ['0x10', '0x1'],
      tx(),
      'identity',
    ],
    [
      'a transaction of another block by its hash',
      'eth_getTransactionByBlockHashAndIndex',
      [b, '0x0'],
      tx(),
      'block-hash',
    ],
    ['receipts of another block', receipts, ['0x11'], [receipt(0)], 'items-block'],
    ['receipts of another hash', receipts, [b], [receipt(0)], 'items-block'],
    [
      'receipts of another hash, EIP-1898',
      receipts,
      [{ blockHash: b }],
      [receipt(0)],
      'items-block',
    ],
    [
      'mixed receipts',
      receipts,
      ['0x10'],
      [receipt(0), receipt(1, { blockHash: b })],
      'items-alike',
    ],
    [
      'mixed receipts of latest',
      receipts,
      ['latest'],
      [receipt(0), receipt(1, { blockNumber: '0x9' })],
      'items-alike',
    ],
    ['a receipt left out', receipts, ['0x10'], [receipt(0), receipt(2)], 'items-order'],
    ['the first receipt left out', receipts, ['0x10'], [receipt(1)], 'items-order'],
    ['a receipt twice', receipts, ['0x10'], [receipt(0), receipt(0)], 'items-order'],
    ['an object for receipts', receipts, ['0x10'], receipt(0), 'shape'],
    ['another chain', 'eth_chainId', [], '"0x5"', 'chain'],
    ['null for the chain', 'eth_chainId', [], 'null', 'chain'],
    [
      'a trace of another block',
      'trace_block',
      ['0x10'],
      [{ blockNumber: 17, blockHash: a }],
      'items-block',
    ],
    [
      'a trace outside of the filter',
      'trace_filter',
      [{ fromBlock: '0x10', toBlock: '0x12' }],
      [{ blockNumber: 17 }, { blockNumber: 19 }],
      'items-block',
    ],
  ])('%s', (_lie, method, params, result, check) => {
    const found = judged(method, params, result)
    expect(found?.check).toBe(check)
    expect(found?.certain).toBe(true)
    expect(found?.evidence).toMatch(/^[\x20-\x7e]{8,400}$/)
  })
})

describe('in any spelling of its names', () => {
  it.each([
    [byNumber, ['0x10', false], block({ number: '0x11' })],
    [byNumber, ['0x10', true], block({ transactions: [tx({ blockHash: b })] })],
    [byHash, [a, false], block({ hash: b })],
    [byNumber, ['0x10', true], block({ transactions: [tx()] })],
    [receipts, ['0x10'], [receipt(0), receipt(2)]],
    [receipts, ['0x10'], [receipt(0), receipt(1)]],
  ])('%s %j is judged alike', (method, params, result) => {
    const names = ['number', 'hash', 'blockHash', 'blockNumber', 'transactions', 'transactionIndex']
    const expected = judged(method, params, result)?.check
    fc.assert(
      fc.property(respelled(JSON.stringify(result), names), (spelled) => {
        expect(judged(method, params, spelled)?.check).toBe(expected)
      }),
      { numRuns: 30 },
    )
  })
})

describe('an honest answer about a block', () => {
  const upper = (hash: string) => `0x${hash.slice(2).toUpperCase()}`
  it.each([
    ['the block', byNumber, ['0x10', false], block()],
    ['null', byNumber, ['0x10', false], 'null'],
    ['a height with leading zeros', byNumber, ['0x0010'], block()],
    ['a height in upper case', byNumber, ['0xAB'], block({ number: '0xaB' })],
    ['by latest', byNumber, ['latest', false], block({ number: '0x99' })],
    ['by finalized', byNumber, ['finalized', false], block()],
    ['by earliest', byNumber, ['earliest', false], block({ number: '0x0' })],
    ['pending, without a hash', byNumber, ['pending'], block({ hash: null, number: null })],
    [
      'pending, with transactions',
      byNumber,
      ['pending', true],
      block({
        hash: null,
        transactions: [tx({ blockHash: null, blockNumber: null, transactionIndex: null })],
      }),
    ],
    ['hashes of transactions', byNumber, ['0x10'], block({ transactions: [b, c] })],
    ['whole transactions', byNumber, ['0x10', true], block({ transactions: [tx(), tx(next)] })],
    [
      'without transactions',
      'eth_getHeaderByNumber',
      ['0x10'],
      { number: '0x10', hash: a, parentHash: b, timestamp: '0x1' },
    ],
    ['pending, a header', 'eth_getHeaderByNumber', ['pending'], { number: '0x10', hash: null }],
    ['no transactions', byNumber, ['0x10', true], block()],
    ['either, when nobody asked', byHash, [a], block({ transactions: [tx()] })],
    ['uncles', byHash, [a, false], block({ uncles: [b] })],
    // Chains without uncles may leave the list out.
    ['without uncles', byHash, [a, false], block({ uncles: undefined })],
    ['of a status, before Byzantium', receipts, [a], [receipt(0, { root: b, status: null })]],
    ['a count', 'eth_getBlockTransactionCountByNumber', ['0x10'], '"0x2"'],
    ['no count', 'eth_getBlockTransactionCountByHash', [a], 'null'],
    ['the network', 'net_version', [], '"1"'],
    ['a hash in upper case', byHash, [upper(a)], block()],
    ['a hash answered in upper case', byHash, [a], block({ hash: upper(a) })],
    ['an escaped hash', byHash, [a], JSON.stringify(block()).replace(a, `\\u0030${a.slice(1)}`)],
    ['a block that is none of the request', byNumber, ['soon', false], block()],
    ['an uncle', 'eth_getUncleByBlockNumberAndIndex', ['0x10', '0x0'], block({ number: '0xa' })],
    ['a transaction by index', 'eth_getTransactionByBlockNumberAndIndex', ['0x10', '0x00'], tx()],
    ['no receipts', receipts, ['0x10'], []],
    ['null for receipts', receipts, ['0x10'], 'null'],
    ['receipts', receipts, ['0x10'], [receipt(0), receipt(1)]],
    ['receipts, EIP-1898', receipts, [{ blockNumber: '0x10' }], [receipt(0)]],
    ['receipts by hash', receipts, [upper(a)], [receipt(0)]],
    ['the chain', 'eth_chainId', [], '"0x1"'],
    ['the chain, with zeros', 'eth_chainId', [], '"0x01"'],
    ['traces', 'trace_block', ['0x10'], [trace, trace]],
    ['a balance', 'eth_getBalance', [a, '0x10'], '"0x1"'],
    ['what nobody knows', 'foo_bar', [1], '"0x1"'],
  ])('%s', (_case, method, params, result) => {
    expect(judged(method, params, result)).toBeNull()
  })

  it('of another chain, where the operator skips that verification', () => {
    for (const skipped of ['chain-id', '*'])
      expect(judged('eth_chainId', [], '"0x539"', { skipVerifications: [skipped] })).toBeNull()
  })
})

describe('a block that was asked before', () => {
  const tell = (memory: BlockMemory, upstream: string, over: object) =>
    judged(byHash, [a, false], block(over), { memory, upstream })

  it('with another parent: a lie of who said otherwise itself', () => {
    const memory = new BlockMemory()
    expect(tell(memory, 'x', {})).toBeNull()
    expect(tell(memory, 'x', {})).toBeNull()
    expect(tell(memory, 'x', { parentHash: c })).toMatchObject({ check: 'parent', certain: true })
  })

  it('with another height: likewise', () => {
    const memory = new BlockMemory()
    tell(memory, 'x', {})
    expect(tell(memory, 'x', { number: '0x11' })).toMatchObject({ check: 'parent', certain: true })
  })

  it('with the same height and another hash: a reorganisation', () => {
    const memory = new BlockMemory()
    for (const hash of [a, b, c, a, b])
      expect(
        judged(byNumber, ['0x10'], block({ hash, parentHash: hashOf('1') }), { memory }),
      ).toBeNull()
  })

  it('is not believed against two who said the same', () => {
    const memory = new BlockMemory()
    tell(memory, 'x', {})
    tell(memory, 'y', {})
    expect(tell(memory, 'liar', { parentHash: c })).toMatchObject({ certain: true })
  })

  it('costs nobody the blame while one stands against one, and a third decides', () => {
    const memory = new BlockMemory()
    expect(tell(memory, 'liar', { parentHash: c })).toBeNull()
    expect(tell(memory, 'x', {})).toMatchObject({ certain: false })
    expect(tell(memory, 'y', {})).toBeNull()
    expect(tell(memory, 'x', {})).toBeNull()
    expect(tell(memory, 'liar', { parentHash: c })).toMatchObject({ certain: true })
  })

  it('is believed when it is told again, although a liar that is gone told otherwise first', () => {
    for (const lie of [{ parentHash: c }, { number: '0x11' }]) {
      const memory = new BlockMemory()
      expect(tell(memory, 'liar', lie)).toBeNull()
      expect(tell(memory, 'x', {})).toMatchObject({ certain: false })
      for (let each = 0; each < 5; each++) expect(tell(memory, 'x', {})).toBeNull()
      expect(tell(memory, 'liar', lie)).toMatchObject({ certain: false })
    }
  })

  it('is believed of two, however many other versions as many liars told', () => {
    const memory = new BlockMemory()
    for (let liar = 0; liar < 20; liar++)
      tell(memory, `liar ${liar}`, { parentHash: `0x${String(liar).padStart(64, '0')}` })
    expect(tell(memory, 'x', {})).toMatchObject({ certain: false })
    for (const honest of ['x', 'y', 'x']) expect(tell(memory, honest, {})).toBeNull()
    expect(tell(memory, 'liar 20', { parentHash: c })).toMatchObject({ certain: true })
  })

  it('no longer stands when its only witness has told another', () => {
    const memory = new BlockMemory()
    tell(memory, 'liar', { parentHash: c })
    expect(tell(memory, 'liar', {})).toMatchObject({ certain: true })
    expect(tell(memory, 'x', {})).toBeNull()
  })

  it('is not the parent that it names itself', () => {
    const memory = new BlockMemory()
    const lie = block({ hash: b, parentHash: b })
    expect(judged(byNumber, ['0x10'], lie, { memory, upstream: 'liar' })).toMatchObject({
      check: 'parent',
      certain: true,
    })
    // What the liar said is forgotten: nobody has to prove it wrong.
    expect(memory.hear('x', 'b'.repeat(64), 15, 'c')).toEqual({ kind: 'fits' })
  })

  it('is not remembered from an answer that is a lie for another reason', () => {
    const memory = new BlockMemory()
    const lie = block({ parentHash: c, transactions: [], gasUsed: '0x1' })
    expect(judged(byNumber, ['0x10'], lie, { memory, upstream: 'liar' })?.check).toBe('items-order')
    expect(tell(memory, 'x', {})).toBeNull()
  })

  it('is known by the block that follows it, and by what is in it', () => {
    const memory = new BlockMemory()
    const place = { blockNumber: '0x10', blockHash: a }
    const receipt = {
      ...{ transactionHash: c, transactionIndex: '0x0', ...place },
      ...{ status: '0x1', logs: [], logsBloom },
    }
    for (const upstream of ['x', 'y'])
      expect(judged('eth_getTransactionReceipt', [c], receipt, { memory, upstream })).toBeNull()
    const moved = { ...receipt, blockNumber: '0x11' }
    expect(
      judged('eth_getTransactionReceipt', [c], moved, { memory, upstream: 'liar' }),
    ).toMatchObject({ check: 'parent', certain: true })
  })

  it('is believed of who shows it, whatever one other said in passing', () => {
    const memory = new BlockMemory()
    const moved = receipt(0, { transactionHash: c, blockNumber: '0x11' })
    judged('eth_getTransactionReceipt', [c], moved, { memory, upstream: 'liar' })
    expect(tell(memory, 'x', {})).toBeNull()
  })

  it('is forgotten before the memory grows without bound', () => {
    const memory = new BlockMemory()
    for (let each = 0; each < 10_000; each++) memory.hear('x', String(each), each, 'p')
    expect(memory.size).toBe(4_096)
  })
})
