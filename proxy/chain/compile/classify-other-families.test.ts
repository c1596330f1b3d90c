// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import type { ApiInterface } from '../../config/types.ts'
import { loadCatalog } from '../load-catalog.ts'
import { ClassifiedChain, hash, height, invalid, none, tag } from '../testing/classified-chain.ts'
import type { MethodSpec } from '../types.ts'

const catalog = await loadCatalog([])
const chainOf = (id: string) => new ClassifiedChain(catalog.find(id)!)
const latest = tag('latest')
const pubnet = 'Public Global Stellar Network ; September 2015'

test.each<[string, ApiInterface, string]>([
  ['STARKNET', 'jsonrpc', '0x534e5f4d41494e'],
  ['STARKNET-SEPOLIA', 'jsonrpc', '0x534e5f5345504f4c4941'],
  ['NEAR', 'jsonrpc', 'mainnet'],
  ['NEAR-TESTNET', 'jsonrpc', 'testnet'],
  ['SUI', 'jsonrpc', '35834a8a'],
  ['SUI-TESTNET', 'jsonrpc', '4c78adac'],
  ['DOT', 'jsonrpc', '0x91b171bb158e2d3848fa23a9f1c25182fb8e20313b2c1eb49219da7a70ce90c3'],
  ['ASSETHUB', 'jsonrpc', '0x68d56f15f85d3136970ec16946040bc1752654e906147f7e43e9d539d7c3de2f'],
  ['TON', 'rest', 'F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk='],
  ['TON-TESTNET', 'rest', 'gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg='],
  ['STELLAR', 'jsonrpc', pubnet],
  ['STELLAR', 'rest', pubnet],
  ['TRON', 'jsonrpc', '0x2b6653dc'],
  ['TRON', 'rest', '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  ['BEACON', 'rest', '1'],
  ['SEPOLIA-BEACON', 'rest', '11155111'],
  ['HOODI-BEACON', 'rest', '560048'],
])('%s %s is identified by %s, and has a probe for its tip', (name, apiInterface, expected) => {
  const { latestBlock, verifications } = chainOf(name).offered(apiInterface)
  expect(verifications[0]).toMatchObject({ name: 'chain-id', expected, severity: 'fail' })
  expect(latestBlock).not.toBeNull()
})

const felt = `0x${'4'.repeat(63)}`
const root = `0x${'ab'.repeat(32)}`
const digest = '9MjpcnwW3TSdzGweNfPbkx8M74q1XzUcT1PAN8G5bNDz'

test.each<[string, string, unknown, Partial<MethodSpec>]>([
  [
    'STRK',
    'starknet_blockNumber',
    [],
    { block: latest, tellsTip: { path: [], encoding: 'decimal' } },
  ],
  ['STRK', 'starknet_call', [{}, 'latest'], { block: latest, runsCallerCode: true }],
  ['STRK', 'starknet_call', [{}, { block_number: 7 }], { block: height(7) }],
  ['STRK', 'starknet_call', { request: {}, block_id: { block_number: 7 } }, { block: height(7) }],
  ['STRK', 'starknet_getNonce', [{ block_hash: felt }, '0x1'], { block: hash(felt) }],
  ['STRK', 'starknet_getNonce', ['pre_confirmed', '0x1'], { block: tag('pending') }],
  ['STRK', 'starknet_getNonce', ['l1_accepted', '0x1'], { block: tag('finalized') }],
  ['STRK', 'starknet_getNonce', ['now', '0x1'], { block: invalid, cacheable: false }],
  ['STRK', 'starknet_traceTransaction', [felt], { addon: 'trace', byHash: true }],
  ['STRK', 'starknet_addInvokeTransaction', [{}], { kind: 'write' }],
  ['NEAR', 'query', { request_type: 'view_account', finality: 'final' }, { block: latest }],
  ['NEAR', 'query', { request_type: 'view_account', block_id: 7 }, { block: height(7) }],
  ['NEAR', 'query', { block_id: digest }, { block: hash(digest) }],
  ['NEAR', 'block', { finality: 'optimistic' }, { block: tag('pending') }],
  ['NEAR', 'block', [7], { block: height(7) }],
  ['NEAR', 'gas_price', [null], { block: latest }],
  ['NEAR', 'tx', { tx_hash: 'a' }, { block: none, waitsForBlock: true, cacheable: false }],
  ['NEAR', 'send_tx', { signed_tx_base64: 'a' }, { kind: 'write' }],
  ['SUI', 'sui_getCheckpoint', ['1000'], { block: height(1000), data: 'blocks' }],
  ['SUI', 'suix_getReferenceGasPrice', [], { block: latest, cacheable: true }],
  ['SUI', 'suix_getCoins', ['0x1'], { block: latest, cacheable: false }],
  ['SUI', 'sui_getTransactionBlock', [digest], { byHash: true }],
  ['SUI', 'sui_executeTransactionBlock', [], { kind: 'write' }],
  ['POLKADOT', 'chain_getHeader', [], { block: latest }],
  ['POLKADOT', 'chain_getBlockHash', [7], { block: height(7) }],
  ['POLKADOT', 'state_getStorage', ['0x26', root], { block: hash(root) }],
  ['POLKADOT', 'state_getStorage', ['0x26'], { block: latest }],
  ['POLKADOT', 'chain_getFinalizedHead', [], { block: tag('finalized') }],
  ['POLKADOT', 'author_submitExtrinsic', ['0x'], { kind: 'write' }],
  ['XLM', 'getLatestLedger', null, { block: latest }],
  ['XLM', 'getEvents', { startLedger: 7 }, { block: latest, cacheable: false }],
  ['XLM', 'getLedgerEntries', { keys: [] }, { block: latest, untilWrite: true }],
  ['XLM', 'sendTransaction', { transaction: 'a' }, { kind: 'write' }],
  ['TRX', 'eth_getBlockByNumber', ['0x10', false], { block: height(16) }],
])('%s %s %j', (id, method, params, expected) => {
  expect(chainOf(id).jsonrpc(method, params)).toMatchObject({ known: true, ...expected })
})

test.each<[string, string, Partial<MethodSpec>]>([
  ['TON', 'GET /v2/getMasterchainInfo', { block: latest }],
  ['TON', 'GET /v2/getAddressInformation?address=a', { block: latest }],
  ['TON', 'GET /v2/getAddressInformation?address=a&seqno=7', { block: height(7) }],
  ['TON', 'POST /v2/sendBoc', { kind: 'write' }],
  ['TON', 'GET /v3/jetton/wallets', { cacheable: false }],
  ['XLM', 'GET /ledgers/7', { block: height(7), data: 'blocks' }],
  ['XLM', 'GET /accounts/GA', { block: latest, untilWrite: true }],
  ['XLM', 'GET /transactions/ab', { byHash: true }],
  ['XLM', 'POST /transactions', { kind: 'write', waitsForBlock: true }],
  ['TRX', 'GET /wallet/getnowblock', { block: latest }],
  ['TRX', 'POST /wallet/getblockbynum', { kind: 'read', cacheable: false }],
  ['TRX', 'POST /wallet/createtransaction', { kind: 'read', cacheable: false }],
  ['TRX', 'POST /wallet/broadcasttransaction', { kind: 'write' }],
  ['BEACON', 'GET /eth/v2/beacon/blocks/head', { block: latest }],
  ['BEACON', 'GET /eth/v2/beacon/blocks/7', { block: height(7), data: 'blocks' }],
  ['BEACON', 'GET /eth/v1/beacon/headers/finalized', { block: tag('finalized') }],
  ['BEACON', 'GET /eth/v1/beacon/states/justified/root', { block: tag('safe') }],
  ['BEACON', `GET /eth/v1/beacon/states/${root}/fork`, { block: hash(root) }],
  ['BEACON', 'POST /eth/v2/beacon/pool/attestations', { kind: 'write' }],
])('%s %s', (id, request, expected) => {
  expect(chainOf(id).rest(request)).toMatchObject({ known: true, ...expected })
})

it('sends transactions of Tron by REST only', () => {
  expect(chainOf('TRX').jsonrpc('eth_sendRawTransaction', ['0x']).known).toBe(false)
  expect(chainOf('TRX').jsonrpc('eth_subscribe', ['newHeads']).known).toBe(false)
})
