// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { FoundJson, misspelt } from '../../json/place.ts'
import { loadCatalog } from '../load-catalog.ts'
import { readOut } from '../testing/classified-chain.ts'
import type { BlockRef, ChainInterface, MethodSpec } from '../types.ts'

let eth: ChainInterface

beforeAll(async () => {
  const found = (await loadCatalog([])).find('ETH1')?.interfaces.get('jsonrpc')
  if (found === undefined) throw new Error('ETH1 has no jsonrpc')
  eth = found
})

function ask(method: string, params?: unknown): MethodSpec {
  return eth.classify({ apiInterface: 'jsonrpc', method, params })
}

const hash = `0x${'ab'.repeat(32)}`
const address = `0x${'11'.repeat(20)}`
const tag = (name: string) => ({ kind: 'tag', tag: name })
const number = (value: number) => ({ kind: 'number', number: value })
const invalid = { kind: 'invalid' }
const none = { kind: 'none' }
const range = (from: unknown, to: unknown) => ({ kind: 'range', from, to })

describe('the block that a request asks about', () => {
  test.each<[string, string, unknown, unknown]>([
    ['a balance now', 'eth_getBalance', [address, 'latest'], tag('latest')],
    ['a balance then', 'eth_getBalance', [address, '0x10'], number(16)],
    ['a balance without block', 'eth_getBalance', [address], tag('latest')],
    ['a balance at null', 'eth_getBalance', [address, null], tag('latest')],
    ['a pending nonce', 'eth_getTransactionCount', [address, 'pending'], tag('pending')],
    ['a safe call', 'eth_call', [{}, 'safe'], tag('safe')],
    ['a finalized call', 'eth_call', [{}, 'finalized'], tag('finalized')],
    ['genesis', 'eth_getBlockByNumber', ['earliest', false], tag('earliest')],
    ['genesis as a number', 'eth_getBlockByNumber', ['0x0', false], number(0)],
    ['storage', 'eth_getStorageAt', [address, '0x0', '0x2'], number(2)],
    ['a proof', 'eth_getProof', [address, [], '0x3'], number(3)],
    ['a call with overrides', 'eth_call', [{}, '0x5', { [address]: {} }], number(5)],
    ['a block by hash', 'eth_getBlockByHash', [hash, true], { kind: 'hash', hash }],
    ['receipts by number', 'eth_getBlockReceipts', ['0x7'], number(7)],
    ['receipts by hash', 'eth_getBlockReceipts', [hash], { kind: 'hash', hash }],
    ['the fee history', 'eth_feeHistory', ['0x5', '0x64', []], number(100)],
    ['an estimate', 'eth_estimateGas', [{}], tag('pending')],
    ['an access list', 'eth_createAccessList', [{}, '0x1'], number(1)],
    ['a simulation', 'eth_simulateV1', [{ blockStateCalls: [] }, '0x9'], number(9)],
    ['the height', 'eth_blockNumber', [], tag('latest')],
    ['the gas price', 'eth_gasPrice', [], tag('latest')],
    ['the chain id', 'eth_chainId', [], none],
    ['a transaction', 'eth_getTransactionByHash', [hash], none],
    ['a receipt', 'eth_getTransactionReceipt', [hash], none],
    ['a broadcast', 'eth_sendRawTransaction', ['0x02'], none],
    ['a trace of a block', 'trace_block', ['0x6'], number(6)],
    ['a trace of a call', 'trace_call', [{}, ['trace'], '0x6'], number(6)],
    ['a debug trace', 'debug_traceCall', [{}, '0x8', {}], number(8)],
    ['a debug trace by hash', 'debug_traceBlockByHash', [hash], { kind: 'hash', hash }],
    [
      'modified accounts',
      'debug_getModifiedAccountsByNumber',
      ['0x1', '0x2'],
      range(number(1), number(2)),
    ],
  ])('%s', (_case, method, params, block) => {
    expect(ask(method, params).block).toEqual(block)
  })
})

describe('a block in an unusual notation', () => {
  test.each<[string, unknown, unknown]>([
    ['leading zeros', '0x0010', number(16)],
    ['upper case digits', '0xAB', number(171)],
    ['upper case prefix', '0XAB', number(171)],
    ['the highest exact number', '0x1fffffffffffff', number(2 ** 53 - 1)],
    ['the first inexact number', '0x20000000000000', invalid],
    ['2^64', '0x10000000000000000', invalid],
    ['63 digits', `0x${'f'.repeat(63)}`, invalid],
    ['65 digits', `0x${'f'.repeat(65)}`, invalid],
    ['64 digits', hash, { kind: 'hash', hash }],
    ['64 zeros', `0x${'0'.repeat(64)}`, { kind: 'hash', hash: `0x${'0'.repeat(64)}` }],
    ['a megabyte of digits', `0x${'f'.repeat(2 ** 20)}`, invalid],
    ['only the prefix', '0x', invalid],
    ['an empty text', '', invalid],
    ['a blank', ' ', invalid],
    ['a tag in upper case', 'LATEST', invalid],
    ['a tag with a blank', 'latest ', invalid],
    ['an unknown tag', 'newest', invalid],
    ['a name of every object', 'constructor', invalid],
    ['a negative hex', '-0x1', invalid],
    ['hex after a sign', '0x-1', invalid],
    ['a decimal text', '16', invalid],
    ['no hex digits', '0xzz', invalid],
    ['a number', 16, number(16)],
    ['zero', 0, number(0)],
    ['a negative number', -1, invalid],
    ['a fraction', 1.5, invalid],
    ['2^64 as a number', 2 ** 64, invalid],
    ['true', true, invalid],
    ['a list', ['latest'], invalid],
    ['an empty object', {}, invalid],
    ['EIP-1898 by number', { blockNumber: '0x10' }, number(16)],
    ['EIP-1898 by hash', { blockHash: hash, requireCanonical: true }, { kind: 'hash', hash }],
    ['EIP-1898 by tag', { blockNumber: 'latest' }, tag('latest')],
    ['EIP-1898 with both', { blockNumber: '0x1', blockHash: hash }, invalid],
    ['EIP-1898 with a short hash', { blockHash: '0xab' }, invalid],
    ['EIP-1898 with a number as hash', { blockHash: 5 }, invalid],
    ['EIP-1898 within itself', { blockNumber: { blockNumber: '0x1' } }, invalid],
    ['EIP-1898 with nulls', { blockNumber: null, blockHash: null }, invalid],
  ])('%s', (_case, block, expected) => {
    const method = ask('eth_call', [{}, block])
    expect(method.block).toEqual(expected)
    expect(method.cacheable).toBe(method.block.kind !== 'invalid')
  })

  test.each<[string, unknown, unknown]>([
    ['a hash in place of a number', [hash, false], invalid],
    ['an object in place of a number', [{ blockNumber: '0x1' }, false], invalid],
    ['no params', undefined, invalid],
    ['null params', null, invalid],
    ['empty params', [], invalid],
    ['a text as params', 'latest', invalid],
    ['a number as params', 5, invalid],
    ['params by name', { block: '0x5', hydrated: false }, number(5)],
    ['params by a wrong name', { blok: '0x5' }, invalid],
    ['params with an inherited name', Object.create({ block: '0x5' }), invalid],
  ])('%s', (_case, params, expected) => {
    expect(ask('eth_getBlockByNumber', params).block).toEqual(expected)
  })

  test.each<[string, unknown[], BlockRef['kind']]>([
    ['a short hash', ['0xab', true], 'invalid'],
    ['a tag', ['latest', true], 'invalid'],
    ['a number', [5, true], 'invalid'],
    ['no hash', [], 'invalid'],
  ])('a block by hash, given %s', (_case, params, kind) => {
    expect(ask('eth_getBlockByHash', params).block.kind).toBe(kind)
  })
})

describe('the range of eth_getLogs', () => {
  test.each<[string, unknown, unknown]>([
    ['numbers', [{ fromBlock: '0x1', toBlock: '0x2' }], range(number(1), number(2))],
    ['one block', [{ fromBlock: '0x2', toBlock: '0x2' }], range(number(2), number(2))],
    ['up to now', [{ fromBlock: '0x1', toBlock: 'latest' }], range(number(1), tag('latest'))],
    ['no end', [{ fromBlock: '0x1' }], range(number(1), tag('latest'))],
    ['no start', [{ toBlock: '0x5' }], range(tag('latest'), number(5))],
    ['neither', [{ address }], range(tag('latest'), tag('latest'))],
    ['nulls', [{ fromBlock: null, toBlock: null }], range(tag('latest'), tag('latest'))],
    ['from genesis', [{ fromBlock: 'earliest' }], range(tag('earliest'), tag('latest'))],
    ['a hash', [{ blockHash: hash }], { kind: 'hash', hash }],
    ['by name', { filter: { fromBlock: '0x1', toBlock: '0x2' } }, range(number(1), number(2))],
    ['a hash and a start', [{ blockHash: hash, fromBlock: '0x1' }], invalid],
    ['a short hash', [{ blockHash: '0x1' }], invalid],
    ['the wrong way round', [{ fromBlock: '0x5', toBlock: '0x1' }], invalid],
    ['a wrong end', [{ fromBlock: '0x1', toBlock: 'now' }], invalid],
    ['an object as end', [{ fromBlock: { blockNumber: '0x1' } }], invalid],
    ['2^64 as end', [{ toBlock: '0x10000000000000000' }], invalid],
    ['a list as filter', [[]], invalid],
    ['a text as filter', ['latest'], invalid],
  ])('%s', (_case, params, expected) => {
    expect(ask('eth_getLogs', params).block).toEqual(expected)
  })

  it('starts a trace filter at genesis', () => {
    expect(ask('trace_filter', [{ toBlock: '0x5' }]).block).toEqual(
      range(tag('earliest'), number(5)),
    )
  })
})

describe('params that nodes may interpret differently', () => {
  const [one, two] = ['"0x1"', '"0x2"']
  const kelvin = 'toBloc\u212a'
  test.each([
    ['eth_getBalance', `["${address}",{"blockNumber":${one},"blockNumber":${two}}]`],
    ['eth_getBalance', `["${address}",{"blockNumber":${one},"BlockNumber":${two}}]`],
    ['eth_getBalance', `["${address}",{"BLOCKNUMBER":${two},"blockNumber":${one}}]`],
    ['eth_getBalance', `["${address}",{"BlockNumber":${one}}]`],
    ['eth_getBalance', String.raw`["${address}",{"blockNumber":${one},"block\u004eumber":${two}}]`],
    ['eth_getBalance', `["${address}",{"blockNumber":${one},"bloc\u212aNumber":${two}}]`],
    ['eth_getBalance', `["${address}",{"blockNumber":${one},"BlockHash":"${hash}"}]`],
    ['eth_getBlockByNumber', `{"block":${one},"Block":${two}}`],
    ['eth_getLogs', `[{"fromBlock":${one},"toBlock":${two},"toBlock":${one}}]`],
    ['eth_getLogs', `[{"fromBlock":${one},"toBlock":${one},"ToBlock":${two}}]`],
    ['eth_getLogs', `[{"fromBlock":${one},"toBlock":${one},"${kelvin}":${two}}]`],
    ['eth_getLogs', String.raw`[{"fromBlock":${one},"toBlock":${one},"to\u0042lock":${two}}]`],
    ['eth_getLogs', `[{"fromBlock":${one},"toBlock":${one},"blockhash":"${hash}"}]`],
  ])('%s %s has an invalid block, and is not cached', (method, params) => {
    const spec = ask(method, new FoundJson(Buffer.from(params), 0))
    expect(spec).toMatchObject({ block: invalid, cacheable: false })
  })

  test.each([
    ['address', `"address":"${address}","Address":"0x"`],
    ['address', `"address":"${address}","address":"0x"`],
    ['topics', '"topics":[],"TOPICS":[null]'],
    ['topics', String.raw`"topics":[],"topic\u0073":[null]`],
    ['topics', '"topics":[],"topic\u017f":[null]'],
  ])('no logs are checked against a filter with two of %s: %s', (_, members) => {
    const params = `[{"fromBlock":"0x1","toBlock":"0x2",${members}}]`
    const { checks } = readOut(ask('eth_getLogs', new FoundJson(Buffer.from(params), 0)))
    expect(checks.find(({ rule }) => rule.check === 'logs')?.wanted).toBe(misspelt)
  })
})

describe('the other properties of a method', () => {
  test.each<[string, Partial<MethodSpec>]>([
    ['eth_sendRawTransaction', { kind: 'write', cacheable: false, deterministic: false }],
    ['eth_sendRawTransactionConditional', { kind: 'write' }],
    ['eth_newFilter', { kind: 'local', stateful: 'creates' }],
    ['eth_newBlockFilter', { kind: 'local', stateful: 'creates' }],
    ['eth_newPendingTransactionFilter', { kind: 'local', stateful: 'creates' }],
    ['eth_getFilterChanges', { kind: 'local', stateful: 'uses' }],
    ['eth_getFilterLogs', { kind: 'local', stateful: 'uses' }],
    ['eth_uninstallFilter', { kind: 'local', stateful: 'ends' }],
    ['eth_call', { kind: 'read', stateful: null }],
    ['eth_sendRawTransactionSync', { kind: 'write', waitsForBlock: true }],
    ['eth_sendTransaction', { kind: 'local' }],
    ['eth_sign', { kind: 'local' }],
    ['eth_newFilter', { kind: 'local', cacheable: false }],
    ['eth_getFilterChanges', { kind: 'local', cacheable: false }],
    ['eth_uninstallFilter', { kind: 'local' }],
    ['txpool_content', { kind: 'local', cacheable: false }],
    ['eth_subscribe', { kind: 'subscribe', cacheable: false }],
    ['eth_unsubscribe', { kind: 'subscribe' }],
    ['eth_syncing', { kind: 'read', cacheable: false, deterministic: false }],
    ['eth_chainId', { kind: 'read', cacheable: true, deterministic: true }],
    ['eth_gasPrice', { cacheable: true, deterministic: false }],
    ['eth_getTransactionByHash', { byHash: true, cacheable: true }],
    ['eth_getBlockByHash', { byHash: true }],
    ['eth_call', { addon: null, byHash: false, cost: 20 }],
    ['eth_getLogs', { cost: 75, timeoutMs: 15_000 }],
    ['debug_traceTransaction', { addon: 'debug', timeoutMs: 30_000, byHash: true }],
    ['debug_getRawReceipts', { addon: 'debug' }],
    ['debug_storageRangeAt', { addon: 'debug' }],
    ['trace_block', { addon: 'trace' }],
    ['trace_get', { addon: 'trace' }],
    ['eth_sendUserOperation', { addon: 'bundler', kind: 'write' }],
    ['eth_estimateUserOperationGas', { addon: 'bundler', kind: 'read' }],
  ])('%s', (method, expected) => {
    expect(ask(method, [])).toMatchObject({ name: method, known: true, ...expected })
  })

  it('shows the tip only when the request asks for the latest block', () => {
    const path = { path: ['number'], encoding: 'hex', hash: ['hash'], parent: ['parentHash'] }
    expect(ask('eth_blockNumber', []).tellsTip).toEqual({ path: [], encoding: 'hex' })
    expect(ask('eth_getBlockByNumber', ['latest', false]).tellsTip).toEqual(path)
    expect(ask('eth_getBlockByNumber', ['0x5', false]).tellsTip).toBeNull()
    expect(ask('eth_getBlockByNumber', ['finalized', false]).tellsTip).toBeNull()
  })
})

describe('a method that the spec does not name', () => {
  test.each([
    '',
    'eth_nope',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'ETH_CALL',
    'x'.repeat(10_000),
  ])('%s', (method) => {
    expect(ask(method, ['latest'])).toMatchObject({
      name: method,
      known: false,
      kind: 'read',
      block: none,
      addon: null,
      cacheable: false,
      deterministic: false,
    })
  })

  test.each([
    'parity_subscribe',
    'erigon_unsubscribe',
    'starknet_subscribeNewHeads',
    'accountSubscribe',
    'Filecoin.EthSubscribe',
    'subscribe_newHead',
    'blockchain.headers.subscribe',
    'subscribe',
  ])('%s opens or ends a subscription by its name', (method) => {
    expect(ask(method, [])).toMatchObject({ name: method, known: false, kind: 'subscribe' })
  })

  test.each(['eth_subscribers', 'eth_isSubscribed', 'eth_subscription', 'getSubscriberCount'])(
    '%s is an ordinary unknown method',
    (method) => {
      expect(ask(method, [])).toMatchObject({ name: method, known: false, kind: 'read' })
    },
  )

  it('is also the class of a question from another interface', () => {
    const method = eth.classify({ apiInterface: 'grpc', method: 'a.B/C', header: () => null })
    expect(method).toMatchObject({ name: 'a.B/C', known: false })
  })
})

describe('any request of a client', () => {
  it('is classified without a throw, deterministically, and left unchanged', () => {
    const methods = [...eth.methods]
    fc.assert(
      fc.property(fc.constantFrom(...methods), fc.jsonValue({ maxDepth: 4 }), (method, params) => {
        const before = JSON.stringify(params)
        const first = ask(method, params)
        expect(readOut(ask(method, params))).toEqual(readOut(first))
        expect(JSON.stringify(params)).toBe(before)
        expect(first.name).toBe(method)
      }),
      { numRuns: 2_000 },
    )
  })

  it('names a block only if it contains one', () => {
    const places = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.string(),
      fc.bigInt({ min: 0n, max: 2n ** 70n }).map((value) => `0x${value.toString(16)}`),
      fc.record({ blockNumber: fc.jsonValue({ maxDepth: 1 }) }),
    )
    fc.assert(
      fc.property(places, (place) => {
        const { block } = ask('eth_call', [{}, place])
        if (block.kind === 'number') {
          expect(Number.isSafeInteger(block.number)).toBe(true)
          expect(block.number).toBeGreaterThanOrEqual(0)
        }
        if (block.kind === 'hash') expect(block.hash).toMatch(/^0x[0-9a-f]{64}$/i)
      }),
      { numRuns: 2_000 },
    )
  })

  it('shares its classification when it names no block', () => {
    expect(ask('eth_chainId', [])).toBe(ask('eth_chainId', [1, 2]))
    expect(ask('eth_call', [{}, 'latest'])).toBe(ask('eth_call', [{}]))
    expect(Object.isFrozen(ask('eth_chainId'))).toBe(true)
  })
})
