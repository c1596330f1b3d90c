// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import type { Chain, ChainCatalog, MethodSpec } from '../types.ts'

const folder = fileURLToPath(new URL('../testdata/catalog', import.meta.url))
let catalog: ChainCatalog

beforeAll(async () => {
  catalog = await loadCatalog([folder])
})

function chain(id: string): Chain {
  const found = catalog.find(id)
  if (found === null) throw new Error(`no ${id}`)
  return found
}

type NamedInterface = 'jsonrpc' | 'tendermintrpc'

function ask(
  id: string,
  method: string,
  params: unknown,
  apiInterface: NamedInterface = 'jsonrpc',
): MethodSpec {
  const found = chain(id).interfaces.get(apiInterface)
  if (found === undefined) throw new Error(`${id} has no ${apiInterface}`)
  return found.classify({ apiInterface, method, params })
}

function rest(id: string, verb: string, path: string, query = ''): MethodSpec {
  const found = chain(id).interfaces.get('rest')
  if (found === undefined) throw new Error(`${id} has no rest`)
  return found.classify({ apiInterface: 'rest', verb, path, query, header: () => null })
}

const latest = { kind: 'tag', tag: 'latest' }
const number = (value: number) => ({ kind: 'number', number: value })

it('reads every chain in the files', () => {
  for (const id of catalog.ids) {
    const { interfaces, blockTimeMs } = chain(id)
    expect(interfaces.size, id).toBeGreaterThan(0)
    expect(blockTimeMs, id).toBeGreaterThan(0)
  }
  expect(catalog.ids).toContain('SEP1')
})

it('finds chains in any letter case, and by their neutral ids', () => {
  expect(catalog.find('eth1')?.id).toBe('ETH1')
  expect(catalog.find('SLOTCHAIN')?.id).toBe('SOLANA')
  expect(catalog.find('MoveChain')?.id).toBe('APT1')
  expect(catalog.find('__proto__')).toBeNull()
})

test.each([
  ['ETH1', 'eth_call', true],
  ['ETH1', 'trace_call', true],
  ['SOLANA', 'simulateTransaction', true],
  ['ETH1', 'eth_getBalance', false],
])('%s %s may answer with words of its caller: %s', (id, method, expected) => {
  expect(ask(id, method, []).runsCallerCode).toBe(expected)
})

describe('what a chain inherits', () => {
  it('has the methods of the chain that it imports, from another file', () => {
    const base = chain('BASE').interfaces.get('jsonrpc')
    expect(base?.methods.has('eth_call')).toBe(true)
    expect([...(base?.addons ?? [])].toSorted()).toEqual(['archive', 'bundler', 'debug', 'trace'])
  })

  test.each([
    ['ETH1', '0x1'],
    ['SEP1', '0xaa36a7'],
    ['BASE', '0x2105'],
    ['BASES', '0x14a34'],
    ['AVAX', '0xa86a'],
    ['AVAXT', '0xa869'],
  ])('%s verifies its own chain id by the inherited question', (id, expected) => {
    const verifications = chain(id).interfaces.get('jsonrpc')?.verifications ?? []
    const own = verifications.filter((each) => each.name === 'chain-id')
    expect(own).toMatchObject([{ expected, addon: null, severity: 'fail' }])
    expect(own[0]?.call.body).toContain('eth_chainId')
  })

  it('omits what the child disables', () => {
    expect(ask('ETH1', 'debug_getRawBlock', ['latest']).known).toBe(true)
    expect(ask('AVAX', 'debug_getRawBlock', ['latest']).known).toBe(false)
    expect(chain('AVAX').interfaces.get('jsonrpc')?.addons.has('bundler')).toBe(false)
  })

  it('includes a collection that exists only to be inherited', () => {
    expect(ask('SOLANA', 'accountSubscribe', ['x']).kind).toBe('subscribe')
    expect(ask('SOLANAT', 'accountSubscribe', ['x']).kind).toBe('subscribe')
  })
})

describe('how a call is classified', () => {
  test.each<[string, string, unknown, Partial<Record<keyof MethodSpec, unknown>>]>([
    ['ETH1', 'eth_call', [{}, '0x10'], { kind: 'read', block: number(16) }],
    ['ETH1', 'eth_call', [{}], { block: latest }],
    [
      'ETH1',
      'eth_getLogs',
      [{ fromBlock: '0x1' }],
      { block: { kind: 'range', from: number(1), to: latest } },
    ],
    ['ETH1', 'eth_blockNumber', [], { tellsTip: { path: [], encoding: 'hex' } }],
    ['ETH1', 'eth_sendRawTransaction', ['0x'], { kind: 'write', cacheable: false }],
    ['ETH1', 'eth_sendTransaction', [{}], { kind: 'local' }],
    ['ETH1', 'eth_newFilter', [{}], { kind: 'local' }],
    ['ETH1', 'eth_subscribe', ['newHeads'], { kind: 'subscribe' }],
    ['ETH1', 'eth_sendUserOperation', [], { kind: 'write', addon: 'bundler' }],
    ['ETH1', 'trace_block', ['0x5'], { kind: 'read', addon: 'trace', block: number(5) }],
    ['ETH1', 'debug_traceTransaction', ['0x'], { addon: 'debug' }],
    ['BTC', 'getblockhash', [100], { block: number(100) }],
    [
      'BTC',
      'getblock',
      ['00'.repeat(32)],
      { block: { kind: 'hash', hash: '00'.repeat(32) }, byHash: true },
    ],
    [
      'BTC',
      'getblockcount',
      [],
      { kind: 'read', block: latest, tellsTip: { path: [], encoding: 'decimal' } },
    ],
    ['BTC', 'sendrawtransaction', ['00'], { kind: 'write' }],
    ['ETH1', 'eth_newFilter', [{}], { kind: 'local', stateful: 'creates' }],
    ['ETH1', 'eth_getFilterChanges', ['0x1'], { kind: 'local', stateful: 'uses' }],
    ['SOLANA', 'getBlock', [1000, {}], { block: number(1000) }],
    ['SOLANA', 'getSlot', [], { block: latest }],
    ['SOLANA', 'sendTransaction', ['x'], { kind: 'write', cacheable: false }],
    ['NEAR', 'block', { finality: 'final' }, { block: { kind: 'tag', tag: 'finalized' } }],
    ['NEAR', 'block', { block_id: 5 }, { block: number(5), byHash: false }],
    ['NEAR', 'block', {}, { block: latest }],
    [
      'NEAR',
      'tx',
      ['hash', 'sender'],
      { byHash: true, block: { kind: 'none' }, waitsForBlock: true },
    ],
    ['NEAR', 'send_tx', ['x'], { kind: 'write' }],
    ['AVAX', 'eth_call', [{}, '0x5'], { block: number(5), internalPath: '/C/rpc' }],
    ['AVAX', 'platform.getBlock', {}, { internalPath: '/P' }],
    ['AVAX', 'avm.getBlockByHeight', { height: '5' }, { block: number(5), internalPath: '/X' }],
    ['AVAX', 'avax.issueTx', {}, { kind: 'write', internalPath: '/C/avax' }],
  ])('%s %s %j', (id, method, params, expected) => {
    expect(ask(id, method, params)).toMatchObject({ known: true, ...expected })
  })

  test.each<[string, unknown, Partial<Record<keyof MethodSpec, unknown>>]>([
    ['block', ['5'], { block: number(5) }],
    ['block', { height: '5' }, { block: number(5) }],
    ['block', {}, { block: latest }],
    ['blockchain', ['1', '5'], { block: number(5) }],
    ['abci_query', { path: '/x', height: '7' }, { block: number(7) }],
    [
      'status',
      [],
      { tellsTip: { path: ['sync_info', 'latest_block_height'], encoding: 'decimal' } },
    ],
    ['broadcast_tx_sync', { tx: '' }, { kind: 'write' }],
    ['tx', { hash: 'AA' }, { byHash: true }],
    ['subscribe', {}, { kind: 'subscribe' }],
  ])('TENDERMINT %s %j', (method, params, expected) => {
    expect(ask('TENDERMINT', method, params, 'tendermintrpc')).toMatchObject(expected)
  })

  test.each<[string, string, string, string, Partial<Record<keyof MethodSpec, unknown>>]>([
    ['APT1', 'GET', '/', '', { name: '/', block: latest }],
    [
      'APT1',
      'GET',
      '/blocks/by_height/55',
      '',
      { name: '/blocks/by_height/{block_height}', block: number(55) },
    ],
    ['APT1', 'HEAD', '/blocks/by_height/55', '', { block: number(55) }],
    ['APT1', 'GET', '/blocks/by_height/x', '', { block: { kind: 'invalid' }, cacheable: false }],
    ['APT1', 'GET', '/accounts/0x1/resources', '', { name: '/accounts/{address}/resources' }],
    ['APT1', 'POST', '/transactions', '', { kind: 'write' }],
    ['APT1', 'POST', '/view', '', { kind: 'read', cacheable: false }],
    ['MOVEMENT', 'GET', '/accounts/0x1', '', { name: '/accounts/{address}' }],
    ['APT1', 'GET', '/nothing/of/the/sort', '', { known: false, kind: 'read' }],
    ['APT1', 'POST', '/nothing/of/the/sort', '', { known: false, kind: 'local' }],
  ])('%s %s %s?%s', (id, verb, path, query, expected) => {
    expect(rest(id, verb, path, query)).toMatchObject(expected)
  })

  it("keeps a chain's paths separate", () => {
    const avax = chain('AVAX').interfaces.get('jsonrpc')
    const at = (internalPath: string) =>
      avax?.classify({
        apiInterface: 'jsonrpc',
        method: 'platform.getBlock',
        params: {},
        internalPath,
      })
    expect(at('/P')?.known).toBe(true)
    expect(at('/X')?.known).toBe(false)
    expect(at('')?.internalPath).toBe('/P')
  })
})

describe('how a chain is probed', () => {
  test.each([
    ['ETH1', 'jsonrpc', '', 'eth_blockNumber', [], 'hex'],
    ['AVAX', 'jsonrpc', '/C/rpc', 'eth_blockNumber', [], 'hex'],
    ['BTC', 'jsonrpc', '', 'getblockcount', [], 'decimal'],
    ['SOLANA', 'jsonrpc', '', 'getLatestBlockhash', ['context', 'slot'], 'decimal'],
    ['NEAR', 'jsonrpc', '', 'block', ['header', 'height'], 'decimal'],
    ['TENDERMINT', 'tendermintrpc', '', 'status', ['sync_info', 'latest_block_height'], 'decimal'],
    ['APT1', 'rest', '/', null, ['block_height'], 'decimal'],
  ] as const)('%s', (id, apiInterface, path, method, result, encoding) => {
    const probe = chain(id).interfaces.get(apiInterface)?.latestBlock
    expect(probe).toMatchObject({ path, result: { path: result, encoding } })
    if (method !== null) expect(JSON.parse(probe?.body ?? '')).toMatchObject({ method })
    else expect(probe).toMatchObject({ verb: 'GET', body: null })
  })

  it('verifies what an add-on promises only where it is declared', () => {
    const all = chain('ETH1').interfaces.get('jsonrpc')?.verifications ?? []
    expect(all.map(({ name, addon }) => [name, addon])).toEqual([
      ['chain-id', null],
      ['trustless-rpc', null],
      ['pruning', 'archive'],
      ['enabled', 'debug'],
      ['bundler', 'bundler'],
      ['trace', 'trace'],
    ])
  })

  test.each([
    ['AVAX', 'jsonrpc', ['chain-id', 'pruning', 'trustless-rpc', 'enabled', 'trace', 'bundler']],
    ['NEAR', 'jsonrpc', ['chain-id', 'pruning', 'tracking-shard-4', 'tracking-shard-11']],
    ['SOLANA', 'jsonrpc', ['version', 'tokens-owner-indexed']],
    ['TENDERMINT', 'tendermintrpc', ['chain-id', 'pruning']],
  ] as const)('%s %s knows each verification by name, asked or not', (id, apiInterface, names) => {
    const known = chain(id).interfaces.get(apiInterface)?.verificationNames
    expect([...(known ?? [])]).toEqual(expect.arrayContaining([...names]))
  })

  it('classifies errors by the family', () => {
    const revert = { status: 200, code: 3, message: 'execution reverted' }
    expect(chain('BASE').failures.ofNodeError(revert).name).toBe('execution-reverted')
    const loading = { status: 500, code: -28, message: 'Loading block index...' }
    expect(chain('BTC').failures.ofNodeError(loading).retry).toBe(true)
    expect(
      [chain('ETH1'), chain('BTC'), chain('NEAR'), chain('APT1')].map((each) => each.family),
    ).toEqual(['evm', 'bitcoin', 'other', 'aptos'])
  })
})
