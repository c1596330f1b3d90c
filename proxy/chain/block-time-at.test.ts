// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from './load-catalog.ts'
import type { ApiInterface } from '../config/types.ts'

const catalog = await loadCatalog([])

test.each<[string, ApiInterface, string]>([
  ['ETH1', 'jsonrpc', '"method":"eth_getBlockByNumber","params":["0x402",false]'],
  ['SLOTCHAIN', 'jsonrpc', '"method":"getBlockTime","params":[1026]'],
  ['HUBCHAIN', 'rest', '/blocks/1026'],
  ['HUBCHAIN', 'tendermintrpc', '"method":"commit","params":{"height":"1026"}'],
  ['MOVECHAIN', 'rest', '/blocks/by_height/1026'],
])('%s is asked for the time of a block by %s', (id, apiInterface, question) => {
  const call = catalog.find(id)!.interfaces.get(apiInterface)!.blockTimeAt!(1_026)
  expect(`${call.path} ${call.body ?? ''}`).toContain(question)
})
