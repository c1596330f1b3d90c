// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from '../../chain/load-catalog.ts'
import { checkShape } from './shape.ts'
import { ResultDocument } from './result-document.ts'
import { judged } from './testing/judged.ts'

const address = `0x${'1'.repeat(40)}`
const long = `0x${'f'.repeat(64)}`

test.each([
  ['quantity', ['"0x0"', '"0x00"', '"0X1aF"', JSON.stringify(long)]],
  ['data', ['"0x"', '"0x0"', '"0xab"', JSON.stringify(`${long}00`)]],
  ['hash', [JSON.stringify(long)]],
  ['object', ['{}', '{"a":1}']],
  ['list', ['[]', '[1]']],
] as const)('a value of type %s is none of the others', (as, own) => {
  const others = ['null', '0', 'true', '""', '"0"', '"0xg"', '"0x-1"', '"latest"', '"x0"', '"0x "']
  const is = (text: string) => {
    const bytes = Buffer.from(`:${text},`)
    const document = new ResultDocument(bytes, { start: 1, end: bytes.length - 1 })
    return checkShape({ check: 'shape', place: null, as }, document) === null
  }
  expect(own.filter((text) => !is(text))).toEqual([])
  expect(others.filter(is)).toEqual([])
  for (const structure of ['{}', '[]'])
    expect(is(structure)).toBe((own as readonly string[]).includes(structure))
})

test.each([
  ['eth_blockNumber', [], '"0x10"'],
  ['eth_gasPrice', [], '"0x1"'],
  ['eth_getBalance', [address, 'latest'], JSON.stringify(long)],
  ['eth_getTransactionCount', [address, 'latest'], '"0x0"'],
  ['eth_getCode', [address, 'latest'], '"0x"'],
  ['eth_call', [{ to: address }, 'latest'], '"0x"'],
  ['eth_estimateGas', [{ to: address }], '"0x5208"'],
  ['eth_feeHistory', ['0x1', 'latest', []], '{"oldestBlock":"0x1"}'],
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
