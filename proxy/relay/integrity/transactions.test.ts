// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Transaction, Wallet, keccak256 } from 'ethers'
import { describe, expect, it } from 'vitest'
import { hashOf, judged } from './testing/judged.ts'
import { transactionHash } from './transaction-hash.ts'

const [a, b] = ['a', 'b'].map(hashOf) as [string, string]
const wallet = new Wallet(hashOf('1'))
const to = `0x${'2'.repeat(40)}`
const fields = { to, nonce: 1, gasLimit: 21_000n, chainId: 1, value: 5n }
const legacy = await wallet.signTransaction({ ...fields, type: 0, gasPrice: 7n })
const accessList = await wallet.signTransaction({
  ...fields,
  type: 1,
  gasPrice: 7n,
  accessList: [],
})
const feeMarket = await wallet.signTransaction({
  ...fields,
  type: 2,
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
  data: `0x${'ab'.repeat(300)}`,
})

const long = await wallet.signTransaction({ ...fields, data: `0x${'ab'.repeat(40_000)}` })

describe('the hash of a raw transaction', () => {
  it.each([
    ['legacy', legacy],
    ['with an access list', accessList],
    ['of the fee market', feeMarket],
    ['in upper case', `0x${feeMarket.slice(2).toUpperCase()}`],
  ])('%s', (_case, raw) => {
    expect(transactionHash(raw)).toBe(Transaction.from(raw).hash)
  })

  it('with blobs beside it is that without them', () => {
    const payload = `c3010203`
    const wrapped = `0x03c9${payload}c101c102c0`.replace('c9', `c${(4 + 2 + 2 + 1).toString(16)}`)
    expect(transactionHash(wrapped)).toBe(keccak256(`0x03${payload}`))
    expect(transactionHash(`0x03${payload}`)).toBe(keccak256(`0x03${payload}`))
  })

  it.each([
    ['nothing', undefined],
    ['no text', 5],
    ['no hex', '0xzz'],
    ['half a byte', '0x123'],
    ['an unknown type', '0x71c101'],
    ['cut', feeMarket.slice(0, -2)],
    ['too long', `${feeMarket}00`],
    ['a length that lies', '0x02ffffffffffffffffff'],
    ['empty', '0x'],
  ])('is not known of %s', (_case, raw) => {
    expect(transactionHash(raw)).toBeNull()
  })
})

describe('transactions and receipts', () => {
  const byHash = 'eth_getTransactionByHash'
  const byIndex = 'eth_getTransactionByBlockNumberAndIndex'
  const receipt = 'eth_getTransactionReceipt'
  const send = 'eth_sendRawTransaction'
  const log = (index: number, over: object = {}) => ({
    ...{ address: to, topics: [], data: '0x' },
    blockHash: b,
    blockNumber: '0x1',
    transactionHash: a,
    transactionIndex: '0x0',
    logIndex: `0x${index}`,
    ...over,
  })
  const place = { blockHash: b, blockNumber: '0x1', transactionIndex: '0x0' }
  const pending = { from: to, blockHash: null, blockNumber: null, transactionIndex: null }
  const logsBloom = `0x${'00'.repeat(256)}`
  const received = { ...place, transactionHash: a, logs: [], logsBloom, status: '0x1' }
  const account = { balance: '0x0', nonce: '0x0', codeHash: a, storageHash: b }
  const proof = { ...account, accountProof: [], storageProof: [] }
  const upper = `0x${a.slice(2).toUpperCase()}`
  const hash = Transaction.from(legacy).hash as string
  it.each([
    ['another transaction', byHash, [a], { hash: b }, 'identity'],
    ['no hash', byHash, [a], {}, 'identity'],
    ['a text', byHash, [a], '"x"', 'identity'],
    ['a block that is none', byHash, [a], { hash: a, ...place, blockHash: 5 }, 'shape'],
    ['a height beyond all', byHash, [a], { hash: a, ...place, blockNumber: a }, 'shape'],
    [
      'a transaction of no block, by its place',
      'eth_getTransactionByBlockHashAndIndex',
      [b, '0x0'],
      { ...place, hash: a, blockNumber: null },
      'shape',
    ],
    [
      'a pending one of another index',
      byIndex,
      ['pending', '0x1'],
      { ...pending, hash: a, transactionIndex: '0x2' },
      'identity',
    ],
    [
      'one without an index, of the latest block',
      byIndex,
      ['latest', '0x0'],
      { ...place, hash: a, transactionIndex: null },
      'identity',
    ],
    ['a raw transaction that is none', 'eth_getRawTransactionByHash', [a], '{}', 'shape'],
    ['null for an account', 'eth_getProof', [to, []], 'null', 'shape'],
    ['an account without proof', 'eth_getProof', [to, []], { address: to }, 'shape'],
    [
      'proofs of too few slots',
      'eth_getProof',
      [to, [a]],
      { address: to, ...proof },
      'items-count',
    ],
    ['by name', byHash, { transactionHash: a }, { hash: b }, 'identity'],
    ['another receipt', receipt, [a], { ...received, transactionHash: b }, 'identity'],
    [
      'a log of another transaction',
      receipt,
      [a],
      { ...received, logs: [log(0, { transactionHash: b })] },
      'items-alike',
    ],
    [
      'a log of another block',
      receipt,
      [a],
      { ...received, logs: [log(0, { blockHash: a })] },
      'items-alike',
    ],
    ['logs out of order', receipt, [a], { ...received, logs: [log(4), log(3)] }, 'items-order'],
    [
      'another raw transaction',
      'eth_getRawTransactionByHash',
      [a],
      `"${legacy}"`,
      'transaction-hash',
    ],
    [
      'a raw transaction that is cut',
      'eth_getRawTransactionByHash',
      [hash],
      `"${legacy.slice(0, -2)}"`,
      'transaction-hash',
    ],
    [
      'a raw transaction with more behind it',
      'eth_getRawTransactionByHash',
      [hash],
      `"${legacy}00"`,
      'transaction-hash',
    ],
    [
      'a typed raw transaction that is cut',
      'eth_getRawTransactionByHash',
      [hash],
      `"${feeMarket.slice(0, -2)}"`,
      'transaction-hash',
    ],
    ['another hash of what was sent', send, [legacy], `"${a}"`, 'transaction-hash'],
    ['no hash of what was sent', send, [legacy], '"ok"', 'transaction-hash'],
    [
      'an account of another address',
      'eth_getProof',
      [to, []],
      { address: wallet.address },
      'identity',
    ],
    [
      'traces of another transaction',
      'trace_transaction',
      [a],
      [{ transactionHash: a }, { transactionHash: b }],
      'identity',
    ],
  ])('a lie: %s', (_case, method, params, result, check) => {
    expect(judged(method, params, result)?.check).toBe(check)
  })

  it.each([
    ['null', byHash, [a], 'null'],
    ['the transaction', byHash, [a], { hash: a, from: to, ...place }],
    ['in another case', byHash, [upper], { hash: a, from: to }],
    ['pending', byHash, [a], { hash: a, from: to, blockHash: null, blockNumber: null }],
    ['pending, by its index', byIndex, ['pending', '0x1'], { ...pending, hash: a }],
    ['pending, without a place', byIndex, ['pending', '0x1'], { hash: a, from: to }],
    [
      'pending, with its index',
      byIndex,
      ['pending', '0x1'],
      { ...pending, hash: a, transactionIndex: '0x1' },
    ],
    ['asked by what is no hash', byHash, [7], { hash: a, from: to }],
    ['asked by nothing', byHash, [], { hash: a, from: to }],
    ['the receipt', receipt, [a], { ...received, logs: [log(3), log(4)] }],
    ['a receipt without logs', receipt, [a], received],
    ['no receipt', receipt, [a], 'null'],
    ['the raw transaction', 'eth_getRawTransactionByHash', [hash], `"${legacy}"`],
    [
      'a long raw transaction',
      'eth_getRawTransactionByHash',
      [Transaction.from(long).hash],
      `"${long}"`,
    ],
    ['a raw transaction of an unknown type', 'eth_getRawTransactionByHash', [a], '"0x7101"'],
    ['no raw transaction', 'eth_getRawTransactionByHash', [a], '"0x"'],
    ['the hash of what was sent', send, [legacy], `"${hash.toUpperCase().replace('X', 'x')}"`],
    ['the hash of what nobody can read', send, ['0x02f8'], `"${a}"`],
    ['traces', 'trace_transaction', [a], [{ transactionHash: upper }]],
    [
      'the account',
      'eth_getProof',
      [wallet.address, []],
      { address: wallet.address.toLowerCase(), ...proof },
    ],
  ])('honest: %s', (_case, method, params, result) => {
    expect(judged(method, params, result)).toBeNull()
  })
})
