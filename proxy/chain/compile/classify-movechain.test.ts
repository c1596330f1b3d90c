// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it, test } from 'vitest'
import { ClassifiedChain, height, invalid, none, tag } from '../testing/classified-chain.ts'
import type { BlockRef, MethodSpec } from '../types.ts'

let move: ClassifiedChain
beforeAll(async () => {
  move = await ClassifiedChain.load('MOVECHAIN')
})

const latest = tag('latest')
const coin = '0x1%3A%3Acoin%3A%3ACoinStore%3C0x1%3A%3Aaptos_coin%3A%3AAptosCoin%3E'

describe('the path of a call, and the block that it asks about', () => {
  test.each<[string, string, BlockRef]>([
    // Covers every group of the node's API.
    ['GET /', '/', latest],
    ['GET /blocks/by_height/55', '/blocks/by_height/{height}', height(55)],
    ['GET /blocks/by_height/55?with_transactions=true', '/blocks/by_height/{height}', height(55)],
    ['GET /blocks/by_height/x', '/blocks/by_height/{height}', invalid],
    ['GET /blocks/by_version/7', '/blocks/by_version/{version}', none],
    ['GET /blocks/by_version/0x7', '/blocks/by_version/{version}', none],
    ['GET /blocks/by_version/seven', '/blocks/by_version/{version}', invalid],
    ['GET /accounts/0x1', '/accounts/{address}', latest],
    ['GET /accounts/0x1?ledger_version=9', '/accounts/{address}', none],
    ['GET /accounts/0x1?ledger_version=latest', '/accounts/{address}', latest],
    ['GET /accounts/0x1?ledger_version=x', '/accounts/{address}', invalid],
    ['GET /accounts/0x1/resources', '/accounts/{address}/resources', latest],
    ['GET /accounts/0x1/modules?limit=5', '/accounts/{address}/modules', latest],
    [`GET /accounts/0x1/resource/${coin}`, '/accounts/{address}/resource/{resource_type}', latest],
    ['GET /accounts/0x1/module/coin', '/accounts/{address}/module/{module_name}', latest],
    ['GET /accounts/0x1/events/5', '/accounts/{address}/events/{creation_number}', latest],
    ['GET /accounts/0x1/balance/0xa', '/accounts/{address}/balance/{asset_type}', latest],
    ['GET /transactions', '/transactions', latest],
    ['GET /transactions/by_hash/0xab', '/transactions/by_hash/{txn_hash}', latest],
    ['GET /transactions/by_version/9', '/transactions/by_version/{txn_version}', none],
    ['POST /transactions', '/transactions', none],
    ['POST /transactions/simulate', '/transactions/simulate', latest],
    ['POST /view', '/view', latest],
    ['POST /view?ledger_version=3', '/view', none],
    ['POST /tables/0xaa/item', '/tables/{table_handle}/item', latest],
    // Spelling variants of one path.
    ['GET', '/', latest],
    ['HEAD /accounts/0x1', '/accounts/{address}', latest],
    ['GET /accounts/0x1/', '/accounts/{address}', latest],
    ['GET /accounts/%30x1', '/accounts/{address}', latest],
    ['GET /%61ccounts/0x1', '/accounts/{address}', latest],
    ['GET //accounts/./0x1', '/accounts/{address}', latest],
    ['GET /blocks/by_height/%35%35', '/blocks/by_height/{height}', height(55)],
    ['GET /accounts/0x1%2fresources', '/accounts/{address}', latest],
    ['GET /accounts/%ff', '/accounts/{address}', latest],
    ['POST /%74ransactions', '/transactions', none],
    ['POST /v1//transactions/', '/transactions', none],
    // Some clients add /v1 themselves.
    ['GET /v1', '/', latest],
    ['GET /v1/', '/', latest],
    ['GET /v1/blocks/by_height/55', '/blocks/by_height/{height}', height(55)],
    ['GET /v1/accounts/0x1?ledger_version=9', '/accounts/{address}', none],
    ['POST /v1/transactions', '/transactions', none],
  ])('%s', (request, method, block) => {
    expect(move.rest(request)).toMatchObject({ known: true, name: method, block })
  })

  test.each([
    ['GET /v1/v1/accounts/0x1', 'read'],
    ['GET /accounts', 'read'],
    ['GET /Accounts/0x1', 'read'],
    ['POST /accounts/0x1', 'local'],
    ['PUT /transactions', 'local'],
    ['OPTIONS /transactions', 'local'],
    ['GET /new/things', 'read'],
  ])('%s is none that the spec names', (request, kind) => {
    expect(move.rest(request)).toMatchObject({ known: false, kind, cacheable: false, block: none })
  })
})

describe('the other properties of a call', () => {
  test.each<[string, Partial<MethodSpec>]>([
    ['GET /', { tellsTip: { path: ['block_height'], encoding: 'decimal' } }],
    ['GET /accounts/0x1', { cacheable: true, deterministic: true }],
    ['GET /accounts/0x1?ledger_version=x', { cacheable: false }],
    ['GET /transactions/by_hash/0xab', { byHash: true, deterministic: false }],
    ['GET /transactions/wait_by_hash/0xab', { waitsForBlock: true, cacheable: false }],
    ['GET /estimate_gas_price', { deterministic: false }],
    ['GET /-/healthy', { cacheable: false }],
    ['GET /spec', { cacheable: false }],
    ['POST /transactions', { kind: 'write', cacheable: false, timeoutMs: 10_000 }],
    ['POST /transactions/batch', { kind: 'write' }],
    ['POST /transactions/simulate', { kind: 'read', cacheable: false }],
    ['POST /view', { kind: 'read', cacheable: false }],
  ])('%s', (request, expected) => {
    expect(move.rest(request)).toMatchObject(expected)
  })

  it('shows the tip in a header, for calls about the latest ledger', () => {
    const header = 'x-aptos-block-height'
    expect(move.rest('GET /accounts/0x1').tellsTip).toMatchObject({ header })
    expect(move.rest('GET /accounts/0x1?ledger_version=5').tellsTip).toBeNull()
    expect(move.rest('POST /transactions').tellsTip).toBeNull()
  })

  it('must return the requested block and transaction', () => {
    expect(move.rest('GET /blocks/by_height/5').checks).toMatchObject([
      { rule: { check: 'block', number: ['block_height'] } },
    ])
    const { checks } = move.rest('GET /v1/transactions/by_version/7')
    const rule = { check: 'identity', result: ['version'], as: 'number' }
    expect(checks).toMatchObject([{ rule }])
    expect(checks.map(({ wanted }) => wanted?.())).toEqual(['7'])
  })
})

it('forwards the headers that its clients need', () => {
  const { requestHeaders, responseHeaders } = move.offered('rest')
  expect([...requestHeaders]).toEqual(expect.arrayContaining(['accept', 'content-type']))
  expect([...responseHeaders]).toEqual(
    expect.arrayContaining(['x-aptos-ledger-version', 'x-aptos-cursor', 'x-aptos-block-height']),
  )
})

it('is probed at its ledger, below /v1 when the URL lacks it', () => {
  const { latestBlock, verifications } = move.offered('rest')
  const ledger = { verb: 'GET', path: '/', otherPaths: ['/v1'] }
  expect(latestBlock).toMatchObject({ ...ledger, result: { path: ['block_height'] } })
  expect(verifications[0]).toMatchObject({ name: 'chain-id', expected: '1', call: ledger })
})

test.each(['APT1', 'aptos'])('%s is its name', async (name) => {
  expect((await ClassifiedChain.load(name)).chain.id).toBe('MOVECHAIN')
})
