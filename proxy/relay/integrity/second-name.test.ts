// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { hashOf, judged } from './testing/judged.ts'

const [a, b] = ['a', 'b'].map(hashOf) as [string, string]
const address = `0x${'1'.repeat(40)}`
const place = { blockNumber: '0x10', blockHash: a, transactionIndex: '0x0' }
const log = {
  ...{ ...place, transactionHash: b, logIndex: '0x5', address },
  ...{ topics: [], data: '0x' },
}
const receipt = {
  ...{ ...place, transactionHash: b, from: address, status: '0x1' },
  ...{ logs: [log], logsBloom: `0x${'0'.repeat(512)}` },
}
/** Of a type that the router cannot hash. */
const transaction = { ...place, hash: b, from: address, gas: '0x5208', input: '0xAB', type: '0x7e' }
const block = {
  ...{ number: '0x10', hash: a, parentHash: b, gasUsed: '0x1', timestamp: '0x1', mixHash: b },
  transactions: [transaction],
}
type Over = Readonly<Record<string, unknown>>
const first = { ...log, logIndex: '0x0' }

const places: Readonly<Record<string, readonly [string, unknown[], (over: Over) => object]>> = {
  'a block': ['eth_getBlockByNumber', ['0x10', true], (over) => ({ ...block, ...over })],
  'a block by its hash': ['eth_getBlockByHash', [a, true], (over) => ({ ...block, ...over })],
  'a transaction': ['eth_getTransactionByHash', [b], (over) => ({ ...transaction, ...over })],
  'a transaction in a block': [
    ...(['eth_getBlockByNumber', ['0x10', true]] as [string, unknown[]]),
    (over) => ({ ...block, transactions: [{ ...transaction, ...over }] }),
  ],
  'a receipt': ['eth_getTransactionReceipt', [b], (over) => ({ ...receipt, ...over })],
  'a receipt of a block': [
    ...(['eth_getBlockReceipts', ['0x10']] as [string, unknown[]]),
    (over) => [{ ...receipt, logs: [first], ...over }],
  ],
  'a log': ['eth_getLogs', [{}], (over) => [{ ...log, ...over }]],
  'a log of a receipt': [
    ...(['eth_getTransactionReceipt', [b]] as [string, unknown[]]),
    (over) => ({ ...receipt, logs: [{ ...log, ...over }] }),
  ],
  'a log in the receipts of a block': [
    ...(['eth_getBlockReceipts', ['0x10']] as [string, unknown[]]),
    (over) => [{ ...receipt, logs: [{ ...first, ...over }] }],
  ],
}
const isUntrue = (which: string, over: Over) => {
  const [method, params, made] = places[which]!
  const found = judged(method, params, made(over))
  return found?.certain === true && found.check === 'shape'
}

describe.each<[string, string, unknown, readonly unknown[]]>([
  ['a block', 'prevRandao', b, [a, null, 5, 'x']],
  ['a block by its hash', 'prevRandao', b, [a]],
  ['a transaction', 'data', '0xab', ['0xdeadbeef', '0x', '0x00ab', null, 171]],
  ['a transaction', 'gasLimit', '0x5208', ['0x5209', null]],
  ['a transaction', 'index', '0x0', ['0x1']],
  ['a transaction in a block', 'data', '0xAB', ['0xdeadbeef', '0xabab']],
  ['a receipt', 'hash', b.toUpperCase().replace('X', 'x'), [a, null]],
  ['a receipt', 'index', '0x0', ['0x9', 'x']],
  ['a receipt of a block', 'hash', b, [a]],
  ['a receipt of a block', 'index', '0x0', ['0x1']],
  ['a log', 'index', '0x5', ['0x99', 'x']],
  ['a log of a receipt', 'index', '0x5', ['0x9', null]],
  ['a log in the receipts of a block', 'index', '0x0', ['0x9']],
])('%s with %s', (which, name, same, others) => {
  it('is believed when it repeats what it stands for', () => {
    expect(isUntrue(which, {})).toBe(false)
    expect(isUntrue(which, { [name]: same })).toBe(false)
  })

  it('is a lie when it says something else', () => {
    expect(others.filter((other) => !isUntrue(which, { [name]: other }))).toEqual([])
  })
})

it('long data under two names is compared as a whole', () => {
  const input = `0x${'ab'.repeat(3_000)}`
  expect(isUntrue('a transaction', { input, data: input })).toBe(false)
  expect(isUntrue('a transaction', { input, data: `${input}cd`.replace('ab', 'cd') })).toBe(true)
})
