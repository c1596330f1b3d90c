// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Transaction, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { hashOf, judged } from './testing/judged.ts'

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const address = `0x${'1'.repeat(40)}`
const place = { blockNumber: '0x10', blockHash: a, transactionHash: b, transactionIndex: '0x0' }
const log = { ...place, address, topics: [c], data: '0x', logIndex: '0x0' }
const empty = { status: '0x1', logs: [], logsBloom: `0x${'00'.repeat(256)}` }
const receipt = (over: object = {}) => ({ ...place, ...empty, ...over })
const gas = (gasUsed: string, cumulativeGasUsed: string) => ({ gasUsed, cumulativeGasUsed })
const second = { transactionHash: c, transactionIndex: '0x1' }
const two = (first: object, next: object) => [receipt(first), receipt({ ...second, ...next })]

describe('the gas, the status and the logs of receipts', () => {
  it.each<[string, object, string | undefined]>([
    ['the first of a block', gas('0x5', '0x5'), undefined],
    ['a later one', gas('0x5', '0x50'), undefined],
    ['without gas', {}, undefined],
    ['more than all', gas('0x6', '0x5'), 'receipt'],
    ['of a status that is none', { status: '0x2' }, 'receipt'],
    ['of what failed', { status: '0x0' }, undefined],
    ['of what failed, with logs', { status: '0x0', logs: [log] }, 'receipt'],
    ['of what went well, with logs', { status: '0x1', logs: [log] }, undefined],
    ['gas that is none', { gasUsed: 'much' }, 'shape'],
  ])('%s', (_case, over, check) => {
    expect(judged('eth_getTransactionReceipt', [b], receipt(over))?.check).toBe(check)
  })

  const failed = { status: '0x0', logs: [{ ...log, ...second }] }
  it.each<[string, object[], string | undefined]>([
    ['that go on', two(gas('0x5', '0x5'), gas('0x7', '0xc')), undefined],
    // A fork may count what the sender gets back.
    ['that leave a gap', two(gas('0x5', '0x5'), gas('0x5', '0xc')), undefined],
    ['that do not rise', two(gas('0x5', '0x5'), gas('0x5', '0x5')), 'receipt'],
    ['that fall', two(gas('0x5', '0x9'), gas('0x1', '0x8')), 'receipt'],
    ['that end at nothing', two(gas('0x5', '0x5'), gas('0x5', '0x0')), 'receipt'],
    ['without gas', two({}, {}), undefined],
    ['the second with the logs of what failed', two({}, failed), 'receipt'],
  ])('of a block %s', (_case, receipts, check) => {
    expect(judged('eth_getBlockReceipts', ['0x10'], receipts)?.check).toBe(check)
  })
})

const history = (oldestBlock: string, blocks: number, over: object = {}) => ({
  oldestBlock,
  baseFeePerGas: Array.from({ length: blocks + 1 }, () => '0x7'),
  gasUsedRatio: Array.from({ length: blocks }, () => 0.5),
  ...over,
})

describe('a fee history', () => {
  const none = { oldestBlock: '0x0', gasUsedRatio: null }
  it.each<[string, unknown[], object, string | undefined]>([
    ['of the blocks asked for', ['0x4', '0x10', []], history('0xd', 4), undefined],
    ['asked for in decimal', [4, '0x10', []], history('0xd', 4), undefined],
    ['up to latest', ['0x4', 'latest', []], history('0x99', 4), undefined],
    ['of the first blocks', ['0x10', '0x2', []], history('0x0', 3), undefined],
    ['that the node limits', ['0x800', '0x1000', []], history('0xfff', 2), undefined],
    ['of none', ['0x0', '0x10', []], none, undefined],
    ['with rewards', ['0x1', '0x10', [5]], history('0x10', 1, { reward: [['0x1']] }), undefined],
    ['of later blocks', ['0x4', '0x10', []], history('0xe', 4), 'block-number'],
    ['of earlier blocks', ['0x4', '0x10', []], history('0xc', 4), 'block-number'],
    ['of more blocks', ['0x4', 'latest', []], history('0xc', 5), 'items-count'],
    ['a fee short', ['0x4', '0x10'], history('0xd', 4, { baseFeePerGas: ['0x1'] }), 'items-count'],
    ['a reward short', ['0x2', '0x10'], history('0xf', 2, { reward: [['0x1']] }), 'items-count'],
  ])('%s', (_case, params, result, check) => {
    expect(judged('eth_feeHistory', params, result)?.check).toBe(check)
  })

  const ofBlobs = (fees: unknown, shares: unknown): [unknown[], object] => [
    ['0x2', '0x10', []],
    history('0xf', 2, { baseFeePerBlobGas: fees, blobGasUsedRatio: shares }),
  ]
  const rewards = (...rows: unknown[]) => history('0xf', 2, { reward: rows })
  it.each<[string, unknown[], object, boolean | null]>([
    ['of no fee', ['0x2', '0x10'], history('0xf', 2, { baseFeePerGas: ['a', 'b', 'c'] }), true],
    [
      'of a fee of null',
      ['0x2', '0x10'],
      history('0xf', 2, { baseFeePerGas: ['0x1', null, '0x1'] }),
      false,
    ],
    ['of a negative share', ['0x2', '0x10'], history('0xf', 2, { gasUsedRatio: [-1, 0] }), true],
    ['of a share in words', ['0x2', '0x10'], history('0xf', 2, { gasUsedRatio: [0, 'x'] }), true],
    ['of more than all', ['0x2', '0x10'], history('0xf', 2, { gasUsedRatio: [7.5, 0] }), false],
    ['of blocks all full', ['0x2', '0x10'], history('0xf', 2, { gasUsedRatio: [1, 1e-9] }), null],
    ['of rewards', ['0x2', '0x10', [10, 50]], rewards(['0x1', '0x2'], ['0x0', '0x0']), null],
    ['of too few', ['0x2', '0x10', [10, 50]], rewards(['0x1'], ['0x1']), true],
    ['of too many', ['0x2', '0x10', [10]], rewards(['0x1'], ['0x1', '0x2']), true],
    ['of what is no reward', ['0x2', '0x10', [10]], rewards(['0x1'], ['x']), true],
    ['of rewards of null', ['0x2', '0x10', [10]], rewards(['0x1'], null), false],
    ['of no rewards', ['0x2', '0x10', [10]], history('0xf', 2), false],
    ['of no rewards, where none are wanted', ['0x2', '0x10', []], history('0xf', 2), null],
    ['cut', ['0x2', '0x10', []], { oldestBlock: '0xf' }, false],
    ['without fees', ['0x2', '0x10', []], { oldestBlock: '0xf', gasUsedRatio: [0, 0] }, false],
    [
      'of empty lists',
      ['0x2', '0x10', []],
      { oldestBlock: '0xf', gasUsedRatio: [], baseFeePerGas: [] },
      false,
    ],
    ['of a pending block that is not there', ['0x1', 'pending', []], none, null],
    ['of blobs', ...ofBlobs(['0x1', '0x1', '0x2'], [0, 0.5]), null],
    ['of a chain without blobs', ...ofBlobs([], null), null],
    ['of fees of blobs, one too few', ...ofBlobs(['0x1', '0x1'], [0, 0.5]), false],
    ['of shares of blobs, one too many', ...ofBlobs(['0x1', '0x1', '0x2'], [0, 0, 0]), false],
    ['of a word for the fees of blobs', ...ofBlobs('0x1', [0, 0]), true],
    ['of an object for the shares of blobs', ...ofBlobs([], {}), true],
    ['of a number for the rewards', ['0x2', '0x10'], history('0xf', 2, { reward: 5 }), true],
    ['of another fee that is none', ...ofBlobs(['0x1', '0x1'], [-1, 0]), true],
  ])('%s', (_case, params, result, certain) => {
    expect(judged('eth_feeHistory', params, result)?.certain ?? null).toBe(certain)
  })

  it('up to a block far above the tip is doubted', () => {
    const asked = ['0x4', 'latest', []] as const
    const options = { horizon: 0x100 }
    expect(judged('eth_feeHistory', asked, history('0xfffffe', 4), options)).toMatchObject({
      check: 'block-number',
      certain: false,
    })
    expect(judged('eth_feeHistory', asked, history('0x99', 4), options)).toBeNull()
  })

  it('without the last blocks is asked for elsewhere, and nobody is blamed', () => {
    const found = judged('eth_feeHistory', ['0x4', '0x10', []], history('0xd', 3))
    expect(found).toMatchObject({ check: 'items-count', certain: false })
  })
})

describe('a proof', () => {
  const proof = (...keys: string[]) => ({
    ...{ address, accountProof: ['0xf8'], balance: '0x0', nonce: '0x0' },
    ...{ codeHash: a, storageHash: b },
    storageProof: keys.map((key) => ({ key, value: '0x0', proof: [] })),
  })
  const long = (digit: string) => `0x${digit.padStart(64, '0')}`
  it.each<[string, unknown[], object, string | undefined]>([
    ['of the keys', [a, b], proof(a, b), undefined],
    ['in another order', [a, b], proof(b, a), undefined],
    ['written otherwise', [long('5'), '0x0'], proof('0x5', long('0')), undefined],
    ['of another key', [a, b], proof(a, c), 'identity'],
    ['of no key', [a], { ...proof(a), storageProof: [{}] }, 'identity'],
    ['of a key too few', [a, b], proof(a), 'items-count'],
    ['of what is no key', [7], proof(a), undefined],
    ['of what is no proof', [a], { ...proof(a), accountProof: ['hello'] }, 'shape'],
    ['of no balance', [a], { ...proof(a), balance: undefined }, 'shape'],
    ['of no nonce', [a], { ...proof(a), nonce: 'x' }, 'shape'],
    ['of no code', [a], { ...proof(a), codeHash: null }, 'shape'],
    [
      'of a key by what is no proof',
      [a],
      { ...proof(a), storageProof: [{ key: a, value: '0x0', proof: ['hello'] }] },
      'shape',
    ],
  ])('%s', (_case, keys, result, check) => {
    expect(judged('eth_getProof', [address, keys, 'latest'], result)?.check).toBe(check)
  })
})

describe('a member that is there twice, once in other letters', () => {
  const own = { number: '0x10', hash: a, parentHash: b, gasUsed: '0x0', timestamp: '0x1' }
  const block = { ...own, transactions: [] }
  const transaction = { hash: b, from: address, blockNumber: '0x10', blockHash: a }
  const transactions = [{ ...transaction, transactionIndex: '0x0', From: b }]
  const byNumber = 'eth_getBlockByNumber'
  it.each<[string, string, unknown[], object]>([
    ['of a block', byNumber, ['0x10'], { ...block, NUMBER: '0x1' }],
    ['that no check needs', byNumber, ['0x10'], { ...block, stateRoot: a, STATEROOT: b }],
    ['in letters that Go takes for them', byNumber, ['0x10'], { ...block, ['ha\u017fh']: b }],
    ['of a log', 'eth_getLogs', [{}], [{ ...log, ADDRESS: '0x' }]],
    ['of a receipt', 'eth_getTransactionReceipt', [b], receipt({ Status: '0x1', status: '0x0' })],
    ['of a transaction in a block', byNumber, ['0x10', true], { ...own, transactions }],
  ])('%s', (_case, method, params, result) => {
    expect(judged(method, params, result)).toMatchObject({ check: 'shape', certain: true })
  })

  /** A member whose name begins with an underscore is written with an escape. */
  const escaped = (result: object) =>
    JSON.stringify(result).replaceAll(/"_(.)(\w+)":/g, (_name, first: string, rest: string) => {
      const code = (first.codePointAt(0) as number).toString(16).padStart(4, '0')
      return `"\\u${code}${rest}":`
    })
  const told = transactions.map(({ From: _from, ...each }) => each)
  const history = { oldestBlock: '0x10', baseFeePerGas: ['0x1', '0x1'], gasUsedRatio: [0] }
  it.each<[string, string, unknown[], object]>([
    ['of a block', byNumber, ['0x10'], { _miner: address, ...block, miner: `0x${'2'.repeat(40)}` }],
    ['of a block, behind', byNumber, ['0x10'], { ...block, _number: '0x10' }],
    ['of a log', 'eth_getLogs', [{}], [{ _data: '0xff', ...log }]],
    ['of a receipt', 'eth_getTransactionReceipt', [b], receipt({ _status: '0x0' })],
    ['of receipts', 'eth_getBlockReceipts', ['0x10'], [receipt({ _status: '0x0' })]],
    [
      'of a log of a receipt',
      'eth_getTransactionReceipt',
      [b],
      receipt({ logs: [{ ...log, _data: '0xff' }] }),
    ],
    [
      'of a transaction',
      'eth_getTransactionByHash',
      [b],
      { _value: '0x1', ...told[0], value: '0x2' },
    ],
    [
      'of a transaction in a block',
      ...([byNumber, ['0x10', true]] as [string, unknown[]]),
      { ...own, transactions: [{ _value: '0x1', ...told[0], value: '0x2' }] },
    ],
    [
      'of a fee history',
      'eth_feeHistory',
      ['0x1', '0x10', []],
      { _oldestBlock: '0x1', ...history },
    ],
  ])('%s, once with an escape', (_case, method, params, result) => {
    expect(judged(method, params, escaped(result))).toMatchObject({ check: 'shape', certain: true })
  })

  it('may be written with an escape, once', () => {
    const { number, ...rest } = block
    expect(judged(byNumber, ['0x10'], escaped({ ...rest, _number: number }))).toBeNull()
    const { data, ...other } = log
    const logs = escaped([
      { ...other, _data: data },
      { ...log, logIndex: '0x1' },
    ])
    expect(judged('eth_getLogs', [{}], logs)).toBeNull()
  })

  it('is nothing where names are words of others', () => {
    expect(judged('rpc_modules', [], { eth: '1.0', ETH: '1.0' })).toBeNull()
  })
})

it.each<[string, object | string, string | undefined]>([
  ['of what was sent', {}, undefined],
  ['of another transaction', { transactionHash: a }, 'transaction-hash'],
  ['of no block', { blockHash: null }, 'shape'],
  ['that is none', '"0x"', 'transaction-hash'],
])('a receipt that is waited for %s', async (_case, over, check) => {
  const fields = { to: address, nonce: 1, gasLimit: 21_000n, chainId: 1, type: 0, gasPrice: 7n }
  const raw = await new Wallet(hashOf('1')).signTransaction(fields)
  const own = { ...receipt(), transactionHash: Transaction.from(raw).hash }
  const result = typeof over === 'string' ? over : { ...own, ...over }
  expect(judged('eth_sendRawTransactionSync', [raw], result)?.check).toBe(check)
})
