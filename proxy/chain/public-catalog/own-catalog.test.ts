// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { AskedChain, height, tag } from '../testing/classified-chain.ts'
import type { MethodSpec } from '../types.ts'

const folder = fileURLToPath(new URL('../testdata/own-catalog', import.meta.url))
let hub: AskedChain
let post: AskedChain
let versioned: AskedChain
beforeAll(async () => {
  hub = await AskedChain.load('HUBCHAIN', [folder])
  post = await AskedChain.load('POSTONLY', [folder])
  versioned = await AskedChain.load('VERSIONED', [folder])
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

  it('has its height in a header', () => {
    const headers = { 'x-cosmos-block-height': '5' }
    expect(hub.rest('GET /sdk/bank/v1beta1/supply', headers).block).toEqual(height(5))
    expect(hub.grpc('sdk.bank.v1beta1.Query/TotalSupply', headers).block).toEqual(height(5))
  })

  it('is asked through gRPC by the numbers of fields', () => {
    const { latestBlock, verifications } = hub.offered('grpc')
    expect(latestBlock).toMatchObject({ body: null, result: { path: [2, 1, 3] } })
    expect(verifications.map(({ name, expected, call }) => [name, expected, call.result.path]))
      // What is asked for a field of an unknown number is left out.
      .toEqual([['chain-id', 'own-hub-1', [1, 4]]])
  })

  it('need not answer with an error', () => {
    expect(hub.offered('rest').verifications.map(({ name }) => name)).toEqual(['chain-id'])
  })
})

describe('a chain with paths of its own', () => {
  const at = (internalPath: string, method: string) =>
    versioned
      .offered('jsonrpc')
      .classify({ apiInterface: 'jsonrpc', method, params: [], internalPath })

  it('may be called at them, but for those of a WebSocket', () => {
    expect([...versioned.offered('jsonrpc').internalPaths]).toEqual(['/rpc/v2'])
  })

  test.each([
    ['', 'getBlock', true, ''],
    ['', 'getBlockV2', true, '/rpc/v2'],
    ['/rpc/v2', 'getBlock', true, '/rpc/v2'],
    // The node knows what it serves where it was asked.
    ['/rpc/v2', 'getNothing', false, '/rpc/v2'],
    ['', 'getNothing', false, ''],
  ])(
    'called at "%s", %s is known: %s, and asked for at "%s"',
    (path, method, known, internalPath) => {
      expect(at(path, method)).toMatchObject({ known, internalPath })
    },
  )
})

describe('a chain whose REST is all POST', () => {
  it('is asked with a body, or with none where the template is a path', () => {
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
