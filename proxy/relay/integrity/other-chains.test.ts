// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import type { Classification } from '../../chain/types.ts'
import { wrongWith } from './testing/answered.ts'

const slots = await AskedChain.load('SLOTCHAIN')
const move = await AskedChain.load('MOVECHAIN')
const hub = await AskedChain.load('HUBCHAIN')
const catalog = fileURLToPath(new URL('../../chain/testdata/catalog', import.meta.url))
const base = await AskedChain.load('BASE', [catalog])

const otherHash = 'ab'.repeat(32)

describe('the slot chain', () => {
  const accounts = slots.jsonrpc('getMultipleAccounts', [['a', 'b']])
  const transaction = slots.jsonrpc('getTransaction', ['sig'])
  const slot = slots.jsonrpc('getBlock', [100])
  const context = { slot: 5 }
  const hashes = { blockhash: '2'.repeat(44), previousBlockhash: '3'.repeat(44) }
  const block = { parentSlot: 97, blockHeight: 80, ...hashes, transactions: [] }
  const of = (...signatures: readonly string[]) => ({ slot: 97, transaction: { signatures } })
  it.each<[string, Classification, unknown, string | null]>([
    ['as many accounts', accounts, { context, value: [null, { data: ['', 'base64'] }] }, null],
    ['an account too few', accounts, { context, value: [null] }, 'items-count'],
    ['an account too many', accounts, { context, value: [null, null, null] }, 'items-count'],
    ['no list of accounts', accounts, { value: {} }, 'shape'],
    ['a null for the list', accounts, { value: null }, 'shape'],
    ['nothing for the list', accounts, {}, 'shape'],
    ['a null for all', accounts, null, 'shape'],
    [
      'accounts of a request without list',
      slots.jsonrpc('getMultipleAccounts', ['a']),
      { context },
      null,
    ],
    ['the transaction', transaction, of('sig'), null],
    ['another one', transaction, of('gis'), 'identity'],
    ['one that nobody signed', transaction, of(), 'identity'],
    ['one without signatures', transaction, { slot: 97, transaction: {} }, 'identity'],
    [
      'null for signatures',
      transaction,
      { slot: 97, transaction: { signatures: null } },
      'identity',
    ],
    ['one without a slot', transaction, { ...of('sig'), slot: undefined }, 'shape'],
    ['nothing in it', transaction, { slot: 97 }, 'identity'],
    ['none', transaction, null, null],
    ['it in base64', transaction, { slot: 97, transaction: ['AQ==', 'base64'] }, null],
    ['it in base58, in the old form', transaction, { slot: 97, transaction: '2Ky' }, null],
    ['a slot behind its parent', slot, block, null],
    // Agave has no height of blocks before it began to count them.
    ['a slot of no height', slot, { ...block, blockHeight: null }, null],
    ['a slot without a hash', slot, { ...block, blockhash: null }, 'shape'],
    ['a slot without a parent', slot, { ...block, previousBlockhash: '' }, 'shape'],
    ['a slot whose height is a text', slot, { ...block, blockHeight: '80' }, 'shape'],
    ['no block in a slot', slot, null, null],
    ['a slot at its parent', slot, { ...block, parentSlot: 100 }, 'block-number'],
    ['the newest slot', slots.jsonrpc('getSlot', []), 5, null],
    ['null for the newest slot', slots.jsonrpc('getSlot', []), null, 'shape'],
    ['a balance', slots.jsonrpc('getBalance', ['a']), { context: { slot: 5 }, value: 0 }, null],
    [
      'a balance of null',
      slots.jsonrpc('getBalance', ['a']),
      { context: {}, value: null },
      'shape',
    ],
    ['no account', slots.jsonrpc('getAccountInfo', ['a']), { context, value: null }, null],
    ['null for an account', slots.jsonrpc('getAccountInfo', ['a']), null, 'shape'],
    ['no slots', slots.jsonrpc('getBlocks', [5, 6]), [], null],
    ['null for slots', slots.jsonrpc('getBlocks', [5, 6]), null, 'shape'],
    ['null for what was sent', slots.jsonrpc('sendTransaction', ['AQ==']), null, 'shape'],
    ['the cluster', slots.jsonrpc('getGenesisHash', []), 'EtWTRABZaYq6iMf', 'chain'],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })
})

describe('the move chain', () => {
  const byHeight = move.rest('GET /blocks/by_height/5')
  const byHash = move.rest(`GET /v1/transactions/by_hash/0x${otherHash.toUpperCase()}`)
  const byVersion = move.rest('GET /v1/transactions/by_version/5')
  const hash = `0x${otherHash}`
  const block = {
    ...{ block_height: '5', block_hash: hash, block_timestamp: '7' },
    ...{ first_version: '8', last_version: '9' },
  }
  const ledger = { chain_id: 1, block_height: '5', ledger_version: '9' }
  it.each<[string, Classification, unknown, string | null]>([
    ['the block', byHeight, block, null],
    ['the block without a hash', byHeight, { ...block, block_hash: undefined }, 'shape'],
    ['null for the block', byHeight, null, 'shape'],
    ['null for the transaction', byHash, null, 'shape'],
    ['a transaction of no type', byHash, { hash }, 'shape'],
    ['a version', byVersion, { version: '5', hash, type: 'user_transaction' }, null],
    ['a version as a number', byVersion, { version: 5, hash }, 'shape'],
    ['another block', byHeight, { ...block, block_height: '6' }, 'block-number'],
    ['the transaction', byHash, { hash, type: 'pending_transaction' }, null],
    ['another one', byHash, { hash: '0xcd' }, 'identity'],
    ['another chain', move.rest('GET /'), { chain_id: 2 }, 'chain'],
    ['the chain', move.rest('GET /'), ledger, null],
    ['no height of the chain', move.rest('GET /'), { ...ledger, block_height: null }, 'shape'],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })
})

describe('the hub chain', () => {
  const hex = '2A'.padEnd(64, 'B')
  const base64 = Buffer.from(hex, 'hex').toString('base64')
  const header = (height: string) => ({ chain_id: 'cosmoshub-4', height })
  const at = (height: string) => ({
    block_id: { hash: hex },
    block: { header: header(height), data: { txs: [] } },
  })
  const empty = { ...at('5'), block_id: { hash: '' } }
  const byHash = (hash: string) => hub.tendermint('block_by_hash', { hash })
  const tx = (hash: string) => hub.tendermint('tx', { hash })
  it.each<[string, Classification, unknown, string | null]>([
    ['the block', hub.tendermint('block', { height: '5' }), at('5'), null],
    ['another block', hub.tendermint('block', { height: '5' }), at('6'), 'block-number'],
    ['by REST', hub.rest('GET /sdk/base/tendermint/v1beta1/blocks/5'), at('6'), 'block-number'],
    ['by hash in hex', byHash(`0x${hex}`), at('5'), null],
    ['by hash in base64', byHash(base64), at('5'), null],
    ['by another hash', byHash(Buffer.alloc(32).toString('base64')), at('5'), 'block-hash'],
    ['null for a transaction', tx(base64), null, 'shape'],
    ['null for a block', hub.tendermint('block', { height: '5' }), null, 'shape'],
    ['a block without a hash', hub.tendermint('block', {}), { ...at('5'), block_id: {} }, 'shape'],
    ['a block whose hash is empty', hub.tendermint('block', {}), empty, 'shape'],
    ['another transaction', tx(base64), { hash: 'CD'.repeat(32) }, 'identity'],
    ['null by REST', hub.rest(`GET /cosmos/tx/v1beta1/txs/${hex}`), null, 'shape'],
    [
      'another transaction by REST',
      hub.rest(`GET /cosmos/tx/v1beta1/txs/${hex}`),
      { tx_response: { txhash: 'CD'.repeat(32) } },
      'identity',
    ],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })
})

describe('a chain of the public catalog that speaks as Ethereum', () => {
  const [hash, other] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`]
  const byNumber = base.jsonrpc('eth_getBlockByNumber', ['0x5', false])
  const logs = base.jsonrpc('eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x6' }])
  const log = {
    ...{ address: `0x${'11'.repeat(20)}`, topics: [], data: '0x', removed: false },
    ...{ blockNumber: '0x5', blockHash: hash, transactionHash: other },
    ...{ transactionIndex: '0x0', logIndex: '0x0' },
  }
  it.each<[string, Classification, unknown, string | null]>([
    ['the block', byNumber, { number: '0x5', hash }, null],
    ['the block, in the form of another client', byNumber, { number: '0x05' }, null],
    ['no block', byNumber, null, null],
    ['another block', byNumber, { number: '0x6', hash }, 'block-number'],
    ['a list for a block', byNumber, [], 'shape'],
    [
      'another block by hash',
      base.jsonrpc('eth_getBlockByHash', [hash, false]),
      { number: '0x5', hash: other },
      'identity',
    ],
    [
      'another transaction',
      base.jsonrpc('eth_getTransactionByHash', [hash]),
      { hash: other },
      'identity',
    ],
    [
      'another receipt',
      base.jsonrpc('eth_getTransactionReceipt', [hash]),
      { transactionHash: other },
      'identity',
    ],
    ['a log in the range', logs, [log], null],
    ['a log beyond it', logs, [{ ...log, blockNumber: '0x7' }], 'logs-range'],
    ['another chain', base.jsonrpc('eth_chainId', []), '0x1', 'chain'],
    ['the chain', base.jsonrpc('eth_chainId', []), '0x2105', null],
    ['a balance of null', base.jsonrpc('eth_getBalance', [hash, 'latest']), null, 'shape'],
    ['what a call gives', base.jsonrpc('eth_call', [{ to: hash }, 'latest']), '0x', null],
  ])('%s', (_case, asked, result, found) => {
    expect(wrongWith(asked, result)).toBe(found)
  })
})
