// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it, test } from 'vitest'
import { jsonOfQuery } from '../../json/place.ts'
import {
  ClassifiedChain,
  hash,
  height,
  invalid,
  none,
  range,
  tag,
} from '../testing/classified-chain.ts'
import type { BlockRef, MethodSpec } from '../types.ts'

let hub: ClassifiedChain
beforeAll(async () => {
  hub = await ClassifiedChain.load('HUBCHAIN')
})

const latest = tag('latest')

describe('REST', () => {
  test.each<[string, string, BlockRef]>([
    // Covers every module, by neutral and public names.
    ['GET /sdk/auth/v1beta1/accounts/cosmos1x', '/sdk/auth/v1beta1/accounts/{address}', latest],
    ['GET /cosmos/auth/v1beta1/accounts/cosmos1x', '/sdk/auth/v1beta1/accounts/{address}', latest],
    ['GET /sdk/bank/v1beta1/supply', '/sdk/bank/v1beta1/supply', latest],
    ['GET /cosmos/bank/v1beta1/supply', '/sdk/bank/v1beta1/supply', latest],
    ['GET /sdk/staking/v1beta1/validators', '/sdk/staking/v1beta1/validators', latest],
    ['GET /sdk/gov/v1/proposals/5', '/sdk/gov/v1/proposals/{proposal_id}', latest],
    ['GET /sdk/gov/v1beta1/proposals', '/sdk/gov/v1beta1/proposals', latest],
    ['GET /sdk/distribution/v1beta1/params', '/sdk/distribution/v1beta1/params', latest],
    ['GET /sdk/slashing/v1beta1/signing_infos', '/sdk/slashing/v1beta1/signing_infos', latest],
    ['GET /sdk/tx/v1beta1/txs/AB', '/sdk/tx/v1beta1/txs/{hash}', none],
    ['GET /sdk/tx/v1beta1/txs/block/9', '/sdk/tx/v1beta1/txs/block/{height}', height(9)],
    [
      'GET /sdk/base/tendermint/v1beta1/blocks/latest',
      '/sdk/base/tendermint/v1beta1/blocks/latest',
      latest,
    ],
    [
      'GET /cosmos/base/tendermint/v1beta1/blocks/77',
      '/sdk/base/tendermint/v1beta1/blocks/{height}',
      height(77),
    ],
    [
      'GET /sdk/base/tendermint/v1beta1/blocks/x',
      '/sdk/base/tendermint/v1beta1/blocks/{height}',
      invalid,
    ],
    [
      'GET /sdkwasm/wasm/v1/contract/cosmos1c/smart/eyJ9',
      '/sdkwasm/wasm/v1/contract/{address}/smart/{query_data}',
      latest,
    ],
    ['GET /cosmwasm/wasm/v1/contract/cosmos1c', '/sdkwasm/wasm/v1/contract/{address}', latest],
    ['GET /ibc/apps/transfer/v1/params', '/ibc/apps/transfer/v1/params', latest],
    ['GET /ibc/apps/transfer/v1/denoms/ibc/AB', '/ibc/apps/transfer/v1/denoms/{hash=**}', latest],
    ['GET /ibc/core/channel/v1/channels', '/ibc/core/channel/v1/channels', latest],
    ['GET /ibc/core/client/v1/client_states', '/ibc/core/client/v1/client_states', latest],
    ['GET /ibc/core/connection/v1/connections', '/ibc/core/connection/v1/connections', latest],
    ['GET /cosmos/group/v1/groups', '/sdk/group/v1/groups', latest],
    ['GET /cosmos/nft/v1beta1/classes', '/sdk/nft/v1beta1/classes', latest],
    ['GET /cosmos/circuit/v1/accounts', '/sdk/circuit/v1/accounts', latest],
    ['GET /feemarket/v1/params', '/feemarket/v1/params', latest],
    // Spelling variants of one path.
    ['GET /sdk/bank/v1beta1/supply/', '/sdk/bank/v1beta1/supply', latest],
    ['HEAD /sdk/bank/v1beta1/supply', '/sdk/bank/v1beta1/supply', latest],
    [
      'GET /sdk/bank/v1beta1/balances/a/by_denom?denom=ibc%2FAB',
      '/sdk/bank/v1beta1/balances/{address}/by_denom',
      latest,
    ],
    [
      'GET /sdk/base/tendermint/v1beta1/abci_query?height=6',
      '/sdk/base/tendermint/v1beta1/abci_query',
      height(6),
    ],
    [
      'GET /sdk/base/tendermint/v1beta1/abci_query?height=0',
      '/sdk/base/tendermint/v1beta1/abci_query',
      latest,
    ],
  ])('%s', (request, method, block) => {
    expect(hub.rest(request)).toMatchObject({ known: true, name: method, block })
  })

  test.each<[Record<string, string>, BlockRef]>([
    [{ 'x-cosmos-block-height': '5' }, height(5)],
    [{ 'grpc-metadata-x-cosmos-block-height': '6' }, height(6)],
    // A gateway joins both into one value, which the node ignores.
    [{ 'x-cosmos-block-height': '5', 'grpc-metadata-x-cosmos-block-height': '6' }, invalid],
    [{ 'x-cosmos-block-height': '5, 6' }, invalid],
    [{ 'x-cosmos-block-height': '0' }, latest],
    [{ 'x-cosmos-block-height': '' }, invalid],
    [{ 'x-cosmos-block-height': 'five' }, invalid],
    [{ 'x-other-block-height': '5' }, latest],
  ])('a query with %j', (headers, block) => {
    expect(hub.rest('GET /cosmos/bank/v1beta1/supply', headers).block).toEqual(block)
    expect(hub.grpc('cosmos.bank.v1beta1.Query/TotalSupply', headers).block).toEqual(block)
  })

  it('prefers the height in a path to that in a header', () => {
    const headers = { 'x-cosmos-block-height': '5' }
    const method = hub.rest('GET /sdk/base/tendermint/v1beta1/blocks/9', headers)
    expect(method.block).toEqual(height(9))
  })

  test.each<[string, Partial<MethodSpec>]>([
    ['POST /sdk/tx/v1beta1/txs', { kind: 'write', cacheable: false }],
    ['POST /cosmos/tx/v1beta1/txs', { kind: 'write' }],
    ['POST /sdk/tx/v1beta1/simulate', { kind: 'read', cacheable: false }],
    ['GET /sdk/tx/v1beta1/txs', { kind: 'read', deterministic: false }],
    ['GET /sdk/tx/v1beta1/txs/AB', { byHash: true }],
    ['GET /sdk/base/tendermint/v1beta1/node_info', { cacheable: false, deterministic: false }],
    ['GET /sdk/bank/v1beta1/supply', { cacheable: true, deterministic: true }],
    ['GET /sdk/new/v1/things', { known: false, kind: 'read', cacheable: false }],
    ['POST /sdk/new/v1/things', { known: false, kind: 'local' }],
  ])('%s is %j', (request, expected) => {
    expect(hub.rest(request)).toMatchObject(expected)
  })

  it('shows the tip in the block, or in a header', () => {
    const block = hub.rest('GET /sdk/base/tendermint/v1beta1/blocks/latest').tellsTip
    expect(block).toMatchObject({ path: ['block', 'header', 'height'], encoding: 'decimal' })
    const supply = hub.rest('GET /sdk/bank/v1beta1/supply').tellsTip
    expect(supply).toMatchObject({ header: 'grpc-metadata-x-cosmos-block-height' })
  })
})

describe('where a node may read a different block than the router', () => {
  const query = '/sdk/base/tendermint/v1beta1/abci_query'
  test.each([
    [`${query}?height=6&height=7`],
    [`${query}?height=6&Height=7`],
    [`${query}?Height=7`],
    [`${query}?%68eight=7`],
    [`${query}?height=6&%68eight=7`],
    [`${query}?path=x;height=7`],
    [`${query}?height=6;height=7`],
  ])('GET %s is about none', (request) => {
    expect(hub.rest(`GET ${request}`)).toMatchObject({ block: invalid, cacheable: false })
  })

  test.each([
    ['height=6&height=7'],
    ['height="6"&height=7'],
    ['HEIGHT=6'],
    ['%68eight=6'],
    ['height=6&%68eight=7'],
    ['x=1;height=6'],
  ])('so is /block?%s in URI style', (given) => {
    const text = (each: string) => /^"(.*)"$/.exec(each)?.[1] ?? each
    const method = hub.tendermint('block', jsonOfQuery(given, text))
    expect(method).toMatchObject({ block: invalid, cacheable: false })
  })

  test.each([
    '//sdk/bank/v1beta1/supply',
    '/sdk/./bank/v1beta1/supply',
    '/sdk/bank/v1beta1/supply/.',
    '/sdk/bank/v1beta1/balances/a%2Fby_denom',
    '/sdk/bank/v1beta1/balances/a%252Fby_denom',
    '/sdk/bank/v1beta1/balances/a%5Cb',
    '/sdk/bank/v1beta1/balances/a\\b',
    '/sdk/bank/v1beta1/balances/a;b=1',
    '/sdk/bank/v1beta1/balances/a%3Bb',
    '/sdk/bank/v1beta1/balances/a%00',
    '/sdk/bank/v1beta1/balances/a%c0%af',
  ])('GET %s may be of another path: nothing is cached or checked', (path) => {
    expect(hub.rest(`GET ${path}`)).toMatchObject({ known: true, cacheable: false, checks: [] })
  })
})

describe('gRPC', () => {
  test.each<[string, Partial<MethodSpec>]>([
    ['sdk.bank.v1beta1.Query/TotalSupply', { block: latest, cacheable: true }],
    ['cosmos.bank.v1beta1.Query/TotalSupply', { name: 'sdk.bank.v1beta1.Query/TotalSupply' }],
    ['cosmos.tx.v1beta1.Service/BroadcastTx', { kind: 'write' }],
    ['cosmos.tx.v1beta1.Service/Simulate', { kind: 'read', cacheable: false }],
    ['cosmos.tx.v1beta1.Service/GetTx', { byHash: true }],
    ['cosmwasm.wasm.v1.Query/SmartContractState', { cost: 40 }],
    ['ibc.core.channel.v1.Query/Channels', { block: latest }],
    ['cosmos.gov.v1.Query/Proposals', { block: latest }],
    ['grpc.reflection.v1.ServerReflection/ServerReflectionInfo', { cacheable: false }],
    ['grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo', { block: none }],
    ['grpc.health.v1.Health/Check', { cacheable: false }],
    ['grpc.health.v1.Health/Watch', { kind: 'local' }],
  ])('%s', (method, expected) => {
    expect(hub.grpc(method)).toMatchObject({ known: true, ...expected })
  })

  test.each<[string, number[] | undefined, BlockRef]>([
    ['GetBlockByHeight', [0x08, 0x96, 0x01], height(150)],
    ['GetBlockByHeight', [], invalid],
    ['GetBlockByHeight', undefined, invalid],
    ['GetBlockByHeight', [0xff], invalid],
    ['ABCIQuery', [0x12, 0x02, 0x2f, 0x61, 0x18, 0x07], height(7)],
    ['ABCIQuery', [0x12, 0x02, 0x2f, 0x61], latest],
    // Decoders disagree about a repeated field and about a group.
    ['ABCIQuery', [0x18, 0x07, 0x18, 0x08], invalid],
    ['ABCIQuery', [0x0b, 0x0c, 0x18, 0x07], invalid],
    ['GetLatestBlock', [], latest],
  ])('the height in the message of %s: %j', (name, message, block) => {
    const method = `cosmos.base.tendermint.v1beta1.Service/${name}`
    expect(hub.grpc(method, {}, message).block).toEqual(block)
  })

  test.each(['cosmos.nothing.v1.Query/Thing', '', '/', 'grpc.health.v1.Health'])(
    '%j is not in the spec',
    (method) => {
      expect(hub.grpc(method)).toMatchObject({ name: method, known: false, cacheable: false })
    },
  )
})

describe('Tendermint RPC', () => {
  const hex = '0xABCDEF'.padEnd(66, '0')
  const base64 = Buffer.alloc(32, 7).toString('base64')
  test.each<[string, unknown, Partial<MethodSpec>]>([
    [
      'status',
      {},
      { tellsTip: { path: ['sync_info', 'latest_block_height'], encoding: 'decimal' } },
    ],
    ['block', {}, { block: latest }],
    ['block', { height: '5' }, { block: height(5) }],
    ['block', ['5'], { block: height(5) }],
    ['block', [5], { block: height(5) }],
    ['block', { height: 'x' }, { block: invalid, cacheable: false }],
    ['block_by_hash', { hash: hex }, { block: hash(hex) }],
    ['block_by_hash', [base64], { block: hash(base64) }],
    ['block_results', { height: '5' }, { block: height(5) }],
    ['commit', { height: '5' }, { block: height(5) }],
    ['validators', { height: '5', page: '1' }, { block: height(5) }],
    ['blockchain', { minHeight: '3', maxHeight: '5' }, { block: range(height(3), height(5)) }],
    ['blockchain', {}, { block: range(latest, latest) }],
    ['abci_query', { path: '/x', data: '', height: '7' }, { block: height(7) }],
    ['abci_query', { path: '/x', data: '', height: '0' }, { block: latest }],
    ['abci_query', ['/x', '', 0], { block: latest }],
    ['tx', { hash: hex }, { block: none, byHash: true }],
    ['tx_search', { query: 'tx.height=5' }, { deterministic: false }],
    ['broadcast_tx_sync', { tx: 'AA==' }, { kind: 'write' }],
    ['broadcast_tx_async', { tx: 'AA==' }, { kind: 'write' }],
    ['broadcast_tx_commit', { tx: 'AA==' }, { kind: 'write', waitsForBlock: true }],
    ['subscribe', { query: "tm.event='NewBlock'" }, { kind: 'subscribe' }],
    ['unsubscribe', {}, { kind: 'subscribe' }],
    ['unsubscribe_all', {}, { kind: 'subscribe' }],
    ['health', {}, { cacheable: false }],
    ['net_info', {}, { deterministic: false }],
    ['genesis', {}, { block: none, cacheable: true }],
  ])('%s %j', (method, params, expected) => {
    expect(hub.tendermint(method, params)).toMatchObject({ name: method, known: true, ...expected })
  })
})

describe('its probes', () => {
  test.each([
    ['rest', '/cosmos/base/tendermint/v1beta1/blocks/latest', ['block', 'header', 'height']],
    ['grpc', '/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock', [2, 1, 3]],
    ['tendermintrpc', '', ['sync_info', 'latest_block_height']],
  ] as const)('%s for the latest block', (apiInterface, path, result) => {
    const { latestBlock } = hub.offered(apiInterface)
    expect(latestBlock).toMatchObject({ path, result: { path: result, encoding: 'decimal' } })
  })

  test.each([
    ['rest', ['/sdk/base/tendermint/v1beta1/node_info']],
    ['grpc', ['/sdk.base.tendermint.v1beta1.Service/GetNodeInfo']],
    ['tendermintrpc', undefined],
  ] as const)('%s for the network, by both names', (apiInterface, otherPaths) => {
    const [network] = hub.offered(apiInterface).verifications
    expect(network).toMatchObject({ name: 'chain-id', expected: 'cosmoshub-4', severity: 'fail' })
    expect(network?.call.otherPaths).toEqual(otherPaths)
  })

  it('has subscriptions on URLs with a WebSocket', () => {
    const has = (['rest', 'grpc', 'tendermintrpc'] as const).filter((each) =>
      hub.offered(each).methods.has('subscribe'),
    )
    expect(has).toEqual(['tendermintrpc'])
  })
})

test.each(['COSMOSHUB', 'cosmos'])('%s is its name', async (name) => {
  expect((await ClassifiedChain.load(name)).chain.id).toBe('HUBCHAIN')
})
