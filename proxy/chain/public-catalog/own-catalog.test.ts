// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { ClassifiedChain, height, tag } from '../testing/classified-chain.ts'
import type { MethodSpec } from '../types.ts'

const folder = fileURLToPath(new URL('../testdata/own-catalog', import.meta.url))
let hub: ClassifiedChain
let post: ClassifiedChain
let versioned: ClassifiedChain
beforeAll(async () => {
  hub = await ClassifiedChain.load('HUBCHAIN', [folder])
  post = await ClassifiedChain.load('POSTONLY', [folder])
  versioned = await ClassifiedChain.load('VERSIONED', [folder])
})

const latest = tag('latest')

describe('a hub of the catalog', () => {
  test.each<[string, Partial<MethodSpec>]>([
    ['GET /cosmos/bank/v1beta1/supply', { block: latest, cacheable: true }],
    ['GET /sdk/bank/v1beta1/supply', { name: '/cosmos/bank/v1beta1/supply' }],
    ['GET /sdkwasm/wasm/v1/contract/c', { name: '/cosmwasm/wasm/v1/contract/{address}' }],
    ['GET /sdk/base/tendermint/v1beta1/blocks/5', { block: height(5) }],
    ['POST /sdk/tx/v1beta1/txs', { kind: 'write' }],
  ])('%s', (request, expected) => {
    expect(hub.rest(request)).toMatchObject({ known: true, ...expected })
  })

  test.each<[string, Partial<MethodSpec>]>([
    ['cosmos.bank.v1beta1.Query/TotalSupply', { block: latest }],
    ['sdk.bank.v1beta1.Query/TotalSupply', { name: 'cosmos.bank.v1beta1.Query/TotalSupply' }],
    ['cosmos.tx.v1beta1.Service/BroadcastTx', { kind: 'write' }],
  ])('%s', (method, expected) => {
    expect(hub.grpc(method)).toMatchObject({ known: true, ...expected })
  })

  it('reads its height from a header', () => {
    const headers = { 'x-cosmos-block-height': '5' }
    expect(hub.rest('GET /sdk/bank/v1beta1/supply', headers).block).toEqual(height(5))
    expect(hub.grpc('sdk.bank.v1beta1.Query/TotalSupply', headers).block).toEqual(height(5))
  })

  it('is probed through gRPC by field numbers', () => {
    const { latestBlock, verifications } = hub.offered('grpc')
    expect(latestBlock).toMatchObject({ body: null, result: { path: [2, 1, 3] } })
    expect(verifications.map(({ name, expected, call }) => [name, expected, call.result.path]))
      // A verification is dropped if its field has no known number.
      .toEqual([['chain-id', 'own-hub-1', [1, 4]]])
  })

  it('need not answer with an error', () => {
    expect(hub.offered('rest').verifications.map(({ name }) => name)).toEqual(['chain-id'])
  })
})

describe('a chain with internal paths', () => {
  const at = (internalPath: string, method: string) =>
    versioned
      .offered('jsonrpc')
      .classify({ apiInterface: 'jsonrpc', method, params: [], internalPath })

  it('may be called at them, except for WebSocket paths', () => {
    expect([...versioned.offered('jsonrpc').internalPaths]).toEqual(['/rpc/v2'])
  })

  test.each([
    ['', 'getBlock', true, ''],
    ['', 'getBlockV2', true, '/rpc/v2'],
    ['/rpc/v2', 'getBlock', true, '/rpc/v2'],
    // Only the node knows the methods of the path.
    ['/rpc/v2', 'getNothing', false, '/rpc/v2'],
    ['', 'getNothing', false, ''],
  ])('called at "%s", %s is known: %s, and sent to "%s"', (path, method, known, internalPath) => {
    expect(at(path, method)).toMatchObject({ known, internalPath })
  })
})

describe('a chain whose REST uses only POST', () => {
  it('is probed with a body, or with none when the template is a path', () => {
    const { latestBlock, verifications } = post.offered('rest')
    expect(latestBlock).toMatchObject({ verb: 'POST', path: '/wallet/getnowblock', body: null })
    expect(verifications[0]?.call).toMatchObject({
      verb: 'POST',
      path: '/wallet/getblockbynum',
      body: '{"num":0}',
    })
  })

  it('is read by POST, and never cached', () => {
    const read = { known: true, kind: 'read', cacheable: false }
    expect(post.rest('POST /wallet/getnowblock')).toMatchObject(read)
    expect(post.rest('POST /wallet/broadcasttransaction').kind).toBe('write')
  })
})
