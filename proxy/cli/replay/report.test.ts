// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { BlockRef, MethodSpec } from '../../chain/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { aCall } from '../../telemetry/call.fixture.ts'
import { compare, type Difference, isFixed, Report } from './report.ts'

function ask(then: string, now: string, apiInterface: ApiInterface = 'jsonrpc'): readonly string[] {
  return compare(then, now, apiInterface).map(({ what, was, is }) => `${what}: ${was} > ${is}`)
}

const result = (json: string, id = 1) => `{"jsonrpc":"2.0","id":${id},"result":${json}}`

test.each([
  ['another spelling', '{"a":1,"b":[2]}', '{ "b": [2], "a": 1 }', []],
  ['a field', '{"a":{"b":1}}', '{"a":{"b":2}}', ['result.a.b: 1 > 2']],
  ['an element', '[{"a":1},{"a":1}]', '[{"a":1},{"a":2}]', ['result[*].a: 1 > 2']],
  ['the same field of several', '[1,1]', '[2,3]', ['result[*]: 1 > 2']],
  ['an absent field', '{"a":1}', '{"b":2}', ['result.a: 1 > absent', 'result.b: absent > 2']],
  ['a shorter list', '[1,2]', '[1]', ['result[*]: 2 > absent']],
  ['another type', '{"a":1}', 'null', ['result: {"a":1} > null']],
  [
    'a long number',
    '9007199254740993',
    '9007199254740992',
    [`(all): ${result('9007199254740993')} > ${result('9007199254740992', 2)}`],
  ],
  ['a name that objects have', '{}', '{"constructor":1}', ['result.constructor: absent > 1']],
])('%s', (_, then, now, differences) => {
  expect(ask(result(then), result(now, 2)).toSorted()).toEqual(differences)
})

const transfer = (hash: string, value = 1) => `{"hash":"${hash}","value":${value}}`
const listed = (...entries: readonly string[]) => result(`[${entries.join(',')}]`)
test.each<[string, readonly string[], readonly string[], readonly Difference[]]>([
  [
    'an entry is missing',
    ['0xa', '0xb', '0xc'].map((each) => transfer(each)),
    [transfer('0xa'), transfer('0xc')],
    [{ what: 'result[*]', entries: '[1]', was: transfer('0xb'), is: 'absent' }],
  ],
  [
    'an entry is added',
    [transfer('0xb')],
    [transfer('0xa'), transfer('0xb')],
    [{ what: 'result[*]', entries: '[0]', was: 'absent', is: transfer('0xa') }],
  ],
  [
    'a field of moved entries differs',
    [transfer('0xa'), transfer('0xb')],
    [transfer('0xb', 2), transfer('0xa')],
    [{ what: 'result[*].value', entries: '[1]', was: '1', is: '2' }],
  ],
  [
    'only the order differs',
    [transfer('0xa'), transfer('0xb')],
    [transfer('0xb'), transfer('0xa')],
    [{ what: 'result[*]', entries: '[0]', was: 'this order', is: 'another order' }],
  ],
  [
    'values are missing',
    ['1', '1', '2', '3'],
    ['1', '3'],
    [{ what: 'result[*]', entries: '[1] [2]', was: '1', is: 'absent' }],
  ],
  [
    'many entries differ',
    ['1', '2', '3', '4', '5'],
    ['0', '0', '0', '0', '0'],
    [{ what: 'result[*]', entries: '[0] [1] [2] and 2 more', was: '1', is: '0' }],
  ],
  [
    'a list within an entry differs',
    ['[1,2]', '[3,4]'],
    ['[1,2]', '[3,5]'],
    [{ what: 'result[*][*]', entries: '[1][1]', was: '4', is: '5' }],
  ],
])('of two lists in which %s, names the entries', (_, then, now, differences) => {
  expect(compare(listed(...then), listed(...now), 'jsonrpc')).toEqual(differences)
})

test('a call about the tip has one row, whatever differs', () => {
  const report = new Report()
  const fields = ['number', 'hash', 'gasUsed'].map((what) => ({ what, was: '1', is: '2' }))
  for (let line = 1; line < 4; line += 1)
    report.add(
      'mayDiffer',
      { line, method: 'eth_getBlockByNumber' },
      'node-a',
      ...fields.slice(line % 3),
    )
  report.add('differs', { line: 4, method: 'eth_getBlockByNumber' }, 'node-a', ...fields)
  const [counts, , , ...rows] = report.toText().split('\n')
  expect(counts).toContain('differs 1, failed 0, mayDiffer 3')
  expect(rows.filter((row) => row.startsWith('differs'))).toHaveLength(3)
  expect(rows.filter((row) => row.startsWith('mayDiffer'))).toHaveLength(1)
})

test('compares REST documents, gRPC bytes, pages, and errors in place of results', () => {
  expect(ask('{"a":1}', '{"a":2}', 'rest')).toEqual(['a: 1 > 2'])
  expect(ask('{"id":1}', '{"id":2}', 'rest')).toEqual(['id: 1 > 2'])
  expect(ask('\0a', '\0b', 'grpc')).toEqual(['(all): \0a > \0b'])
  expect(ask('\0a', '\0a', 'grpc')).toEqual([])
  expect(ask('ok', 'no', 'rest')).toEqual(['(all): ok > no'])
  expect(ask('{"result":"0x"}', '{"error":{"code":3}}')).toEqual([
    'result: "0x" > absent',
    'error: absent > {"code":3}',
  ])
  const error = (message: string) => `{"id":1,"error":{"code":3,"message":"${message}"}}`
  expect(ask(error('reverted'), error('other'))).toEqual(['error.message: "reverted" > "other"'])
})

test('compares deeply nested JSON', () => {
  const deep = (leaf: string) => result(`${'['.repeat(2_000)}${leaf}${']'.repeat(2_000)}`)
  const [only = '', ...more] = ask(deep('1'), deep('2'))
  expect(more).toEqual([])
  expect(only.length).toBeLessThan(10_000)
})

const [latest, number] = [
  { kind: 'tag', tag: 'latest' },
  { kind: 'number', number: 7 },
] as const
const receipt = { showsBlock: { path: ['blockNumber'], encoding: 'hex' } } as const

test.each<[string, BlockRef, Partial<MethodSpec>, string, string, boolean]>([
  ['a block', number, {}, '1', '2', true],
  ['a block by hash', { kind: 'hash', hash: '0x1' }, {}, '1', '2', true],
  ['no block', { kind: 'none' }, {}, '1', '2', true],
  ['a range of blocks', { kind: 'range', from: number, to: number }, {}, '1', '2', true],
  ['the tip', latest, {}, '1', '2', false],
  ['a range up to the tip', { kind: 'range', from: number, to: latest }, {}, '1', '2', false],
  ['no block that nodes read', { kind: 'invalid' }, {}, '1', '2', false],
  ['a nondeterministic method', { kind: 'none' }, { deterministic: false }, '1', '2', false],
  ['an object that did not exist yet', number, {}, 'null', '2', false],
  ['an object that is gone', number, {}, '2', 'null', true],
  [
    'a pending block',
    { kind: 'none' },
    receipt,
    '{"blockNumber":null}',
    '{"blockNumber":"0x1"}',
    false,
  ],
  [
    'a mined block',
    { kind: 'none' },
    receipt,
    '{"blockNumber":"0x1"}',
    '{"blockNumber":"0x2"}',
    true,
  ],
])('a difference about %s', (_, block, more, then, now, isFinding) => {
  const differences = compare(result(then), result(now), 'jsonrpc')
  expect(isFixed({ ...aCall().method, block, ...more }, differences)).toBe(isFinding)
})
