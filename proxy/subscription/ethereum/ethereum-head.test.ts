// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ethereumFamily, readHead } from './ethereum.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const header = { hash: hash('b'), parentHash: hash('a'), number: '0x10', miner: '0x1' }
const block = { ...header, size: '0x1', transactions: [hash('c')], uncles: [], withdrawals: [] }

const readPushedHead = (event: Uint8Array) =>
  ethereumFamily(() => Promise.reject(new Error('no request expected'))).readers['newHeads']?.read(
    event,
  ) ?? null
const textOf = (link: ReturnType<typeof readHead>) => Buffer.from(link?.event ?? '').toString()

test('a fetched block is sent as its header', () => {
  expect(textOf(readHead(Buffer.from(JSON.stringify(block))))).toBe(JSON.stringify(header))
})

test('a pushed head is sent unchanged, with every field that the node adds', () => {
  const event = JSON.stringify({ l1Block: 7, ...block }, null, 1)
  const link = readPushedHead(Buffer.from(event))
  expect(link).toMatchObject({ number: 16, id: hash('b'), parent: hash('a') })
  expect(textOf(link)).toBe(event)
})
