// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { PlainShape, Shape } from '../../chain/check-rule.ts'
import { loadCatalog } from '../../chain/load-catalog.ts'
import { checkShape } from './shape.ts'
import { ResultDocument } from './result-document.ts'
import { judged } from './testing/judged.ts'

const address = `0x${'1'.repeat(40)}`
const long = `0x${'f'.repeat(64)}`

const bloom = `0x${'0'.repeat(512)}`
const values: readonly (readonly [PlainShape, readonly unknown[]])[] = [
  ['quantity', ['0x0', '0x00', '0X1aF', long]],
  ['height', ['0x0', '0x00', '0X1aF', '0x1fffffffffffff']],
  ['uint64', ['0x0', '0x00', '0xffffffffffffffff', `0x${'0'.repeat(48)}${'f'.repeat(16)}`]],
  ['data', ['0x', '0x0', '0xab', long, `${long}00`, address, bloom]],
  ['word', [long]],
  ['hash', [long]],
  ['address', [address]],
  ['bloom', [bloom]],
  ['hashes', [[], [long]]],
  ['topics', [[], [long], [long, long, long, long]]],
  ['object', [{}, { a: 1 }]],
  ['list', [[], [1], [long], [address]]],
  ['text', ['x', '0', address]],
  ['decimal', ['0', '123']],
  ['number', [0, 12]],
  ['integer', [0, 12, 1e15]],
  ['base58-32', ['1'.repeat(32), '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d']],
  ['base58-64', ['1'.repeat(64)]],
  ['boolean', [true, false]],
  ['false', [false]],
  ['syncing', [false, true, {}]],
]

test.each(values)('a value of type %s', (as, own) => {
  const is = (value: unknown, shape: Shape = as) => {
    const bytes = Buffer.from(`:${JSON.stringify(value)},`)
    const document = new ResultDocument(bytes, { start: 1, end: bytes.length - 1 })
    const rule = {
      check: 'shape',
      place: null,
      result: [],
      when: null,
      oneOf: null,
      isLenient: false,
      as: shape,
      members: new Map(),
      secondNames: new Map(),
    } as const
    return checkShape(rule, document, { kind: 'none' }) === null
  }
  expect(own.filter((value) => !is(value))).toEqual([])
  expect(own.filter((value) => !is(value, 'any'))).toEqual([])
  const never = [null, '', -1, '0xg', '0x-1', 'x0', '0x ', ' 0', [5], ['0x1']]
  const odd = never.filter((value) => is(value))
  expect(odd).toEqual(as === 'text' ? never.slice(3, 8) : as === 'list' ? never.slice(8) : [])
  expect([is(null), is(null, `${as}?`), is(odd[0] ?? '', `${as}?`)]).toEqual([
    false,
    true,
    odd.length > 0,
  ])
})

test('a value with escapes is the value', () => {
  expect(judged('eth_getCode', [address], '"0x\\u0061b"')).toBeNull()
  expect(judged('eth_getCode', [address], '"0x\\u0067b"')?.check).toBe('shape')
})

test.each([
  ['eth_blockNumber', [], '"0x10"'],
  ['eth_gasPrice', [], '"0x1"'],
  ['eth_getBalance', [address, 'latest'], JSON.stringify(long)],
  ['eth_getTransactionCount', [address, 'latest'], '"0x0"'],
  ['eth_getCode', [address, 'latest'], '"0x"'],
  ['eth_call', [{ to: address }, 'latest'], '"0x"'],
  ['eth_estimateGas', [{ to: address }], '"0x5208"'],
  ['web3_sha3', ['0x'], '"0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"'],
  ['eth_feeHistory', ['0x0', 'latest', []], '{"oldestBlock":"0x1"}'],
])('%s says what it promises', (method, params, honest) => {
  expect(judged(method, params, honest)).toBeNull()
  for (const lie of ['null', '0', '"ok"', 'true', '[]'])
    expect(judged(method, params, lie)).toMatchObject({ check: 'shape', certain: true })
})

test('chains that are made from Ethereum have it too', async () => {
  const sepolia = (await loadCatalog([])).find('SEPOLIA')
  const asked = sepolia?.interfaces
    .get('jsonrpc')
    ?.classify({ apiInterface: 'jsonrpc', method: 'eth_gasPrice', params: [] })
  expect(asked?.checks.map(({ rule }) => rule.check)).toEqual(['shape'])
})

test.each<[string, string, unknown[], unknown, boolean | null]>([
  ['half a byte of code', 'eth_getCode', [address, 'latest'], '0x6', false],
  ['a call that is cut', 'eth_call', [{ to: address }, 'latest'], long.slice(0, -1), false],
  ['nothing, as some write it', 'eth_getCode', [address, 'latest'], '0x0', null],
  ['storage without its zeros', 'eth_getStorageAt', [address, '0x0', 'latest'], '0x1', false],
  ['storage of two words', 'eth_getStorageAt', [address, '0x0', 'latest'], `${long}00`, true],
  ['a word', 'eth_getStorageAt', [address, '0x0', 'latest'], long, null],
  ['a nonce of 2^72 - 1', 'eth_getTransactionCount', [address], `0x${'f'.repeat(18)}`, true],
  ['no access list', 'eth_createAccessList', [{}], {}, true],
  ['an access list', 'eth_createAccessList', [{}], { accessList: [], gasUsed: '0x1' }, null],
  ['syncing null', 'eth_syncing', [], null, true],
  ['syncing in words', 'eth_syncing', [], 'yes', true],
  ['how far it is', 'eth_syncing', [], { currentBlock: '0x1' }, null],
  ['a simulation in words', 'eth_simulateV1', [{}, 'latest'], 'hello', true],
  ['a trace in words', 'debug_traceTransaction', [long], 'hello', false],
  ['a trace of null', 'debug_traceTransaction', [long], null, false],
  ['a trace', 'debug_traceTransaction', [long], { gas: 1 }, null],
  ['a flat trace', 'debug_traceTransaction', [long], [{}], null],
  ['traces in words', 'debug_traceBlockByNumber', ['0x1'], 'hello', false],
  ['traces', 'debug_traceBlockByNumber', ['0x1'], [], null],
  ['traces of null', 'trace_block', ['0x1'], null, false],
  ['a raw header', 'debug_getRawHeader', ['0x1'], '0xf9', null],
  ['a raw header in words', 'debug_getRawHeader', ['0x1'], 'hello', true],
  ['a raw header of null', 'debug_getRawHeader', ['0x1'], null, null],
  ['a raw block that is an object', 'debug_getRawBlock', ['0x1'], {}, true],
  ['raw receipts', 'debug_getRawReceipts', ['0x1'], ['0xf9', '0x02'], null],
  ['raw receipts in words', 'debug_getRawReceipts', ['0x1'], ['x'], true],
  ['syncing false', 'eth_syncing', [], false, null],
  ['another digest', 'web3_sha3', ['0x'], long, true],
  ['the digest of what is no data', 'web3_sha3', ['0x0'], long, null],
])('%s', (_case, method, params, result, certain) => {
  expect(judged(method, params, JSON.stringify(result))?.certain ?? null).toBe(certain)
})
