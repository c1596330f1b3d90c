// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { receiptsRoot } from './receipts-root.ts'

const hex = (number: number) => `0x${number.toString(16)}`
const bytes = (seed: string, length: number) =>
  `0x${hash('sha512', seed)
    .repeat(8)
    .slice(0, length * 2)}`
const many = <T>(length: number, make: (at: number) => T) =>
  Array.from({ length }, (_, at) => make(at))

const receipts = (count: number) =>
  many(count, (i) => ({
    transactionIndex: hex(i),
    type: hex(i % 5),
    status: hex(i % 2),
    cumulativeGasUsed: hex(21_000 * (i + 1)),
    logsBloom: bytes(`bloom${i}`, 256),
    logs: many(i % 4, (j) => ({
      address: bytes(`a${i}${j}`, 20),
      topics: many(j % 5, (k) => bytes(`t${i}${j}${k}`, 32)),
      data: bytes(`d${i}${j}`, (i * 7) % 90),
    })),
  }))

const file = new URL('testdata/blocks.json', import.meta.url)
const blocks = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly name: string
  readonly receiptsRoot: string
  readonly receipts: readonly unknown[]
}[]

test.each(blocks)('the header of $name has the root of its receipts', async (block) => {
  expect(await receiptsRoot(block.receipts)).toBe(block.receiptsRoot)
})

/** Made-up receipts of types 0 to 4, so that the trie has each form of node. */
test.each([
  [0, '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'],
  [1, '0x9d25113158b41afbfe7e2ca627241984e063e939cd8a4bb10ac2c1a03e902282'],
  [16, '0xe0f56c7b7f60f6175738e972517bfc558ddc3659b2937c07d4d8515956f6e859'],
  [17, '0xeb597ca31ccdaf88f500fcfb6f6aef0f055a5538a1ce678a1255b93a2249b8e5'],
  [127, '0xf8f5089b5b595581debbbba34a0b160c2518d0706a3b2f859b627e5ef541e0df'],
  [128, '0xd348ce9f839bd481a451567a461fc40f5e47332c4d78e301607a3117e8190fe9'],
  [129, '0xf58600060bf85a62066ecf343535c3277223ef2be3399b6cb17ef0b142dbf6a9'],
  [300, '0xaab53c5ebf476dbc6bfddfc01c9f5269d4c7abb3b80b84642bbba60e13d1bf43'],
])('the root of %i receipts', async (count, root) => {
  expect(await receiptsRoot(receipts(count))).toBe(root)
})

const [first] = receipts(1)

test.each([
  ['in an unknown form', [{ ...first, logs: 'none' }]],
  ['twice', [first, first]],
])('a receipt %s has no root', async (_what, list) => {
  expect(await receiptsRoot(list)).toBe(null)
})
