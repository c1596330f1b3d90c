// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import type { ApiInterface } from '../../config/types.ts'

const catalog = await loadCatalog([])

test.each<[string, ApiInterface, string]>([
  ['ETH1', 'jsonrpc', '"method":"eth_getBlockByNumber","params":["0x402",false]'],
  ['BTC', 'jsonrpc', '"method":"getblockstats","params":[1026,["time"]]'],
  ['SLOTCHAIN', 'jsonrpc', '"method":"getBlockTime","params":[1026]'],
  ['HUBCHAIN', 'rest', '/blocks/1026'],
  ['HUBCHAIN', 'tendermintrpc', '"method":"commit","params":{"height":"1026"}'],
  ['MOVECHAIN', 'rest', '/blocks/by_height/1026'],
])('%s is asked for the time of a block by %s', (id, apiInterface, question) => {
  const call = catalog.find(id)!.interfaces.get(apiInterface)!.blockTimeAt!(1_026)
  expect(`${call.path} ${call.body ?? ''}`).toContain(question)
})

test.each<[string, ApiInterface, string, readonly string[]]>([
  ['ETH1', 'jsonrpc', '"method":"eth_getBlockByNumber","params":["0x402",false]', ['hash']],
  ['BTC', 'jsonrpc', '"method":"getblockhash","params":[1026]', []],
  ['HUBCHAIN', 'rest', '/blocks/1026', ['block_id', 'hash']],
  ['MOVECHAIN', 'rest', '/blocks/by_height/1026', ['block_hash']],
])('%s is asked for the hash of a block by %s', (id, apiInterface, question, path) => {
  const call = catalog.find(id)!.interfaces.get(apiInterface)!.blockHashAt!(1_026)
  expect(`${call.path} ${call.body ?? ''}`).toContain(question)
  expect(call.result.path.slice(-path.length || Infinity)).toEqual(path)
})
