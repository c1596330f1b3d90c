// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { AskedChain } from '../../chain/testing/asked-chain.ts'
import type { Classification } from '../../chain/types.ts'
import { BlockMemory } from './block-memory.ts'
import { wrongInPieces, wrongWith } from './testing/answered.ts'
import { judgedAs } from './testing/judged.ts'

const hub = await AskedChain.load('HUBCHAIN')
const testnet = await AskedChain.load('HUBCHAINT')

type Row = [string, Classification, unknown, string | null]

function expectWrong(asked: Classification, result: unknown, found: string | null) {
  expect(wrongWith(asked, result)).toBe(found)
  expect(wrongInPieces(asked, result)).toBe(found)
}

describe('transactions and their hashes', () => {
  const bytes = Buffer.from('a transaction')
  const hash = createHash('sha256').update(bytes).digest('hex').toUpperCase()
  const asked = hub.tendermint('tx', { hash: Buffer.from(hash, 'hex').toString('base64') })
  const search = hub.tendermint('tx_search', { query: 'tx.height=5' })
  const tx = { hash, height: '5', index: 0, tx: bytes.toString('base64') }
  const none = createHash('sha256').digest('hex')
  it.each<Row>([
    ['the transaction', asked, tx, null],
    ['by hex', hub.tendermint('tx', { hash: `0x${hash}` }), tx, null],
    ['other bytes', asked, { ...tx, tx: 'ZXZpbA==' }, 'transaction-hash'],
    ['none', asked, { ...tx, tx: '' }, 'transaction-hash'],
    ['no bytes', asked, { ...tx, tx: undefined }, 'shape'],
    ['no base64', asked, { ...tx, tx: `${tx.tx}!` }, 'shape'],
    ['an object', asked, { ...tx, tx: {} }, 'shape'],
    ['another transaction', asked, { ...tx, hash: none }, 'identity'],
    ['found', search, { txs: [tx, tx], total_count: '2' }, null],
    ['found of no bytes', search, { txs: [{ hash: none, tx: '' }] }, null],
    ['nothing found', search, { txs: [], total_count: '0' }, null],
    ['nothing found, by old nodes', search, { txs: null, total_count: '0' }, null],
    ['found with other bytes', search, { txs: [tx, { ...tx, tx: 'AA==' }] }, 'transaction-hash'],
    ['texts found', search, { txs: ['x'] }, 'shape'],
    ['null for a search', search, null, 'shape'],
  ])('%s', (_case, question, result, found) => {
    expectWrong(question, result, found)
  })

  it('is not compared where a long answer was cut', () => {
    const long = Buffer.alloc(5_000, 7)
    const own = createHash('sha256').update(long).digest('hex')
    const result = { txs: [{ hash: own, height: '5', tx: long.toString('base64') }] }
    expectWrong(search, result, null)
  })
})

describe('what was signed last', () => {
  const [hash, before, other] = ['AB', 'CD', 'EF'].map((digits) => digits.repeat(32))
  const block = (height: string, lastId: string, commit: unknown) => ({
    block_id: { hash },
    block: {
      header: { chain_id: 'cosmoshub-4', height, last_block_id: { hash: lastId } },
      data: { txs: [] },
      last_commit: commit,
    },
  })
  const signed = (height: string, id = before) => ({ height, round: 0, block_id: { hash: id } })
  const fifth = hub.tendermint('block', { height: '5' })
  const latest = hub.tendermint('block', {})
  // Where a chain goes on from another one its first block has a height.
  const goingOn = hub.tendermint('block', { height: '5200791' })
  const byRest = hub.rest('GET /cosmos/base/tendermint/v1beta1/blocks/5')
  const inBase64 = Buffer.from(hash!, 'hex').toString('base64')
  const ofRest = (height: string) => ({
    ...block('5', '', signed(height, '')),
    block_id: { hash: inBase64 },
  })
  it.each<Row>([
    ['is the block before', fifth, block('5', before!, signed('4')), null],
    ['in small letters', fifth, block('5', before!, signed('4', before!.toLowerCase())), null],
    ['is not there', fifth, block('5', before!, null), null],
    ['is none of the first block', goingOn, block('5200791', '', signed('0', '')), null],
    ['is the block itself', fifth, block('5', before!, signed('5')), 'block-number'],
    ['is older', fifth, block('5', before!, signed('3')), 'block-number'],
    ['is of another block', fifth, block('5', before!, signed('4', other)), 'parent'],
    ['of the newest block', latest, block('9', before!, signed('8')), null],
    ['of the newest block is another', latest, block('9', before!, signed('8', other)), 'parent'],
    ['by REST', byRest, ofRest('4'), null],
    ['by REST is later', byRest, ofRest('6'), 'block-number'],
  ])('%s', (_case, question, result, found) => {
    expectWrong(question, result, found)
  })

  it('is compared with what the block was before', () => {
    const memory = new BlockMemory()
    const of = (id: string, height: string) => ({
      signed_header: {
        header: { chain_id: 'cosmoshub-4', height, last_block_id: { hash: id } },
        commit: { height, block_id: { hash } },
      },
    })
    const commit = hub.tendermint('commit', { height: '5' })
    const heard = (upstream: string, result: object) =>
      judgedAs(commit, result, { memory, upstream })?.check ?? null
    expect(heard('a', of(before!, '5'))).toBeNull()
    expect(heard('b', of(before!, '5'))).toBeNull()
    expect(heard('c', of(other!, '5'))).toBe('parent')
  })
})

describe('a transaction far above the tip', () => {
  const tx = Buffer.from('a transaction')
  const hash = createHash('sha256').update(tx).digest('hex').toUpperCase()
  const asked = hub.tendermint('tx', { hash: Buffer.from(hash, 'hex').toString('base64') })
  const byRest = hub.rest(`GET /cosmos/tx/v1beta1/txs/${hash}`)
  const of = (height: string) => ({ hash, height, index: 0, tx: tx.toString('base64') })
  it.each<Row>([
    ['is doubted', asked, of('501'), 'block-number?'],
    ['may be near to it', asked, of('500'), null],
    [
      'is doubted by REST',
      byRest,
      { tx_response: { txhash: hash, height: '501' } },
      'block-number?',
    ],
    ['may be near to it by REST', byRest, { tx_response: { txhash: hash, height: '9' } }, null],
  ])('%s', (_case, question, result, found) => {
    const seen = judgedAs(question, result, { horizon: 500 })
    expect(seen && `${seen.check}${seen.certain ? '' : '?'}`).toBe(found)
  })
})

describe('blocks of the chain', () => {
  const hash = 'AB'.repeat(32)
  const inBase64 = Buffer.from(hash, 'hex').toString('base64')
  const header = { chain_id: 'cosmoshub-4', height: '5' }
  const other = { chain_id: 'osmosis-1', height: '5' }
  const of = (id: string, own: object = header, data: unknown = { txs: [] }) => ({
    ...{ block_id: { hash: id }, block: { header: own, data } },
  })
  const block = hub.tendermint('block', { height: '5' })
  const byHash = hub.tendermint('block_by_hash', { hash: inBase64 })
  const byRest = hub.rest('GET /cosmos/base/tendermint/v1beta1/blocks/5')
  const withTxs = hub.rest('GET /cosmos/tx/v1beta1/txs/block/5')
  const commit = hub.tendermint('commit', { height: '5' })
  const latest = hub.tendermint('commit', {})
  const signed = (own: object, height = '5') => ({
    signed_header: { header: own, commit: { height, block_id: { hash } } },
    canonical: true,
  })
  const status = hub.tendermint('status', {})
  const genesis = hub.tendermint('genesis', {})
  const chunk = hub.tendermint('genesis_chunked', { chunk: '3' })
  const search = hub.tendermint('block_search', { query: 'block.height=5' })
  it.each<Row>([
    ['the block', block, of(hash), null],
    ['one without transactions, by old nodes', block, of(hash, header, { txs: null }), null],
    ['one of another chain', block, of(hash, other), 'chain'],
    ['one of no chain', block, of(hash, { height: '5' }), 'chain'],
    ['a short hash', block, of('AB'), 'shape'],
    ['a hash that is no hex', block, of('Z'.repeat(64)), 'shape'],
    ['a hash in small letters', block, of(hash.toLowerCase()), null],
    ['null for data', block, of(hash, header, null), 'shape'],
    ['one by hash', byHash, of(hash), null],
    ['one by hash that is not there', byHash, { block_id: { hash: '' }, block: null }, null],
    ['one by hash of another chain', byHash, of(hash, other), 'chain'],
    ['one by REST', byRest, of(inBase64), null],
    ['one by REST with its hash in hex', byRest, of(hash), 'shape'],
    ['one by REST of another chain', byRest, of(inBase64, other), 'chain'],
    ['one by REST without data', byRest, { ...of(inBase64), block: { header } }, 'shape'],
    ['one with its transactions', withTxs, { ...of(inBase64), txs: [] }, null],
    ['such a one of another chain', withTxs, { ...of(inBase64, other), txs: [] }, 'chain'],
    ['found', search, { blocks: [of(hash)], total_count: '1' }, null],
    ['texts found', search, { blocks: ['x'], total_count: '1' }, 'shape'],
    ['a header', hub.tendermint('header', { height: '5' }), { header }, null],
    ['a header of another chain', hub.tendermint('header', {}), { header: other }, 'chain'],
    ['one by its hash', hub.tendermint('header_by_hash', { hash }), { header }, null],
    ['none by its hash', hub.tendermint('header_by_hash', { hash }), { header: null }, null],
    ['another by hash', hub.tendermint('header_by_hash', { hash }), { header: other }, 'chain'],
    ['a commit', commit, signed(header), null],
    ['a commit that was not kept', commit, { signed_header: { header, commit: null } }, null],
    ['the latest commit', latest, signed(header), null],
    ['a commit of another block', commit, signed(header, '6'), 'block-number'],
    ['a commit of another chain', commit, signed(other), 'chain'],
    ['the status', status, { node_info: { network: 'cosmoshub-4' } }, null],
    ['that of another chain', status, { node_info: { network: 'osmosis-1' } }, 'chain'],
    ['no status', status, null, 'chain'],
    ['the genesis', genesis, { genesis: { chain_id: 'cosmoshub-4' } }, null],
    ['another genesis', genesis, { genesis: { chain_id: 'osmosis-1' } }, 'chain'],
    ['no genesis', genesis, null, 'chain'],
    ['a part of it', chunk, { chunk: '3', total: '9', data: 'e30=' }, null],
    ['its number as one', chunk, { chunk: 3, total: 9, data: 'e30=' }, null],
    ['another part', chunk, { chunk: '4', total: '9', data: 'e30=' }, 'identity'],
    ['the first part', hub.tendermint('genesis_chunked', {}), { chunk: '0', data: 'e30=' }, null],
    [
      'the node',
      hub.rest('GET /cosmos/base/tendermint/v1beta1/node_info'),
      { default_node_info: { network: 'osmosis-1' } },
      'chain',
    ],
    [
      'a chain that extends it',
      testnet.tendermint('status', {}),
      { node_info: { network: 'provider' } },
      null,
    ],
    [
      'the chain that it extends',
      testnet.tendermint('status', {}),
      { node_info: { network: 'cosmoshub-4' } },
      'chain',
    ],
  ])('%s', (_case, question, result, found) => {
    expectWrong(question, result, found)
  })
})
