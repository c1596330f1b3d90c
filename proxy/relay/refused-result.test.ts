// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import { refusalIn } from './refused-result.ts'

const { failures } = (await loadCatalog([])).find('HUBCHAIN')!

function refusal(result: object) {
  const bytes = Buffer.from(JSON.stringify(result))
  const path = { code: ['code'], message: ['log'] }
  return refusalIn(bytes, { start: 0, end: bytes.length }, path, failures)
}

test.each([
  ['a full pool, for another node may have room', 20, 'mempool is full', true, null],
  ['a transaction that is wrong', 32, 'account sequence mismatch, expected 5', false, 'refused'],
  ['one that is known', 19, 'tx already exists in cache', false, 'known'],
])('%s', (_, code, log, retry, transaction) => {
  const told = { whose: 'node', retry, transaction, weight: 0, holdOff: false }
  expect(refusal({ code, log })).toMatchObject(told)
})

test.each([{ code: 0, log: '' }, { log: 'mempool is full' }])('%j is no refusal', (result) => {
  expect(refusal(result)).toBeNull()
})
