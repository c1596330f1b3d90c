// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, it, test } from 'vitest'
import { ClassifiedChain, hash, height, invalid, none, tag } from '../testing/classified-chain.ts'
import type { BlockRef, MethodSpec } from '../types.ts'

let btc: ClassifiedChain
beforeAll(async () => {
  btc = await ClassifiedChain.load('BTC')
})

const blockHash = '00000000000000000001'.padEnd(64, 'a')
const latest = tag('latest')

describe('the block that a call asks about', () => {
  test.each<[string, unknown, BlockRef]>([
    ['getblockcount', [], latest],
    ['getbestblockhash', [], latest],
    ['getblockchaininfo', undefined, latest],
    ['getblockhash', [840_000], height(840_000)],
    ['getblockhash', { height: 5 }, height(5)],
    ['getblockhash', ['5'], height(5)],
    ['getblockhash', [-1], invalid],
    ['getblockhash', [], invalid],
    ['getblock', [blockHash], hash(blockHash)],
    ['getblock', [blockHash, 0], hash(blockHash)],
    ['getblock', { blockhash: blockHash, verbosity: 2 }, hash(blockHash)],
    ['getblock', [5], invalid],
    ['getblockheader', [blockHash, false], hash(blockHash)],
    ['getblockstats', [5], height(5)],
    ['getblockstats', [blockHash], hash(blockHash)],
    ['getblockfilter', [blockHash], hash(blockHash)],
    ['getchaintxstats', [], latest],
    ['getchaintxstats', [2016, blockHash], hash(blockHash)],
    ['getrawtransaction', ['aa', true], none],
    ['gettxout', ['aa', 0], tag('pending')],
    ['getmempoolinfo', [], tag('pending')],
    ['estimatesmartfee', [6], latest],
  ])('%s %j', (method, params, block) => {
    expect(btc.jsonrpc(method, params).block).toEqual(block)
  })
})

describe('the other properties of a method', () => {
  test.each<[string, Partial<MethodSpec>]>([
    // Covers every method group of Bitcoin Core.
    ['getblockcount', { tellsTip: { path: [], encoding: 'decimal' }, cacheable: true }],
    ['getblockchaininfo', { tellsTip: { path: ['blocks'], encoding: 'decimal' } }],
    ['getblockhash', { kind: 'read', cost: 10 }],
    ['getblock', { byHash: true, cacheable: false, timeoutMs: 10_000 }],
    ['getblockheader', { byHash: true, cacheable: false }],
    ['getbestblockhash', { cacheable: true, deterministic: true }],
    ['getrawtransaction', { byHash: true, cacheable: false }],
    ['decoderawtransaction', { cacheable: true, block: none }],
    ['sendrawtransaction', { kind: 'write', cacheable: false, timeoutMs: 10_000 }],
    ['submitpackage', { kind: 'write' }],
    ['submitblock', { kind: 'write' }],
    ['gettxout', { cacheable: false }],
    ['getnetworkinfo', { cacheable: false, deterministic: false }],
    ['getmempoolinfo', { cacheable: false, deterministic: false }],
    ['estimatesmartfee', { cacheable: true, deterministic: false }],
    ['getmininginfo', { kind: 'read' }],
    ['getpeerinfo', { deterministic: false }],
    ['validateaddress', { cacheable: true }],
    ['createpsbt', { cacheable: false }],
    ['gettxoutsetinfo', { cost: 1000, timeoutMs: 180_000 }],
    ['waitfornewblock', { kind: 'local', waitsForBlock: true }],
    ['sendtoaddress', { kind: 'local' }],
    ['getnewaddress', { kind: 'local' }],
    ['stop', { kind: 'local' }],
    ['generatetoaddress', { kind: 'local' }],
    // Methods of btcd.
    ['getbestblock', { tellsTip: { path: ['height'], encoding: 'decimal' } }],
    ['searchrawtransactions', { kind: 'read' }],
  ])('%s', (method, expected) => {
    expect(btc.jsonrpc(method, [])).toMatchObject({ name: method, known: true, ...expected })
  })

  it('treats a method in upper case as another method', () => {
    expect(btc.jsonrpc('GETBLOCKCOUNT', []).known).toBe(false)
  })

  it('checks a block by its hash', () => {
    const { checks, block } = btc.jsonrpc('getblock', [blockHash, 0])
    expect(block).toEqual(hash(blockHash))
    expect(checks.map(({ rule }) => rule)).toMatchObject([
      { check: 'block', hash: ['hash'] },
      { check: 'parent', parent: ['previousblockhash'] },
    ])
  })
})

test.each([
  ['BTC', '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'],
  ['BTCT', '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943'],
  ['BTC-TESTNET4', '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043'],
  ['BTC-SIGNET', '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'],
  ['BTC-REGTEST', '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'],
])('%s is identified by its first block', async (id, expected) => {
  const [verification] = (await ClassifiedChain.load(id)).offered('jsonrpc').verifications
  expect(verification).toMatchObject({ name: 'chain-id', expected })
  expect(JSON.parse(String(verification?.call.body))).toMatchObject({
    method: 'getblockhash',
    params: [0],
  })
})
