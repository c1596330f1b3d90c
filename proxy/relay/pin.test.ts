// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { BlockRef, ChainInterface, Question } from '../chain/types.ts'
import type { ApiInterface } from '../config/types.ts'
import type { Outgoing } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { pinned } from './pin.ts'

const catalog = await loadCatalog([])

function interfaceOf(chainId: string, apiInterface: ApiInterface): ChainInterface {
  return catalog.find(chainId)!.interfaces.get(apiInterface)!
}

type Part = Pick<Call, 'method' | 'request'>

function callOf(iface: ChainInterface, question: Question, request: Partial<Outgoing>): Call {
  const part: Part = {
    method: iface.classify(question),
    request: { verb: 'POST', path: '', headers: [], body: null, ...request },
  }
  return part as Call
}

function jsonRpc(
  chainId: string,
  text: string,
  apiInterface: 'jsonrpc' | 'tendermintrpc' = 'jsonrpc',
): Call {
  const { method, params } = JSON.parse(text) as { method: string; params: unknown }
  const question = { apiInterface, method, params } as const
  return callOf(interfaceOf(chainId, apiInterface), question, { body: Buffer.from(text) })
}

function bodyOf(call: Call | null): string {
  return Buffer.from(call?.request.body as Uint8Array).toString()
}

const filter = (text: string) => `{"method":"eth_getLogs","params":[${text}]}`
const balance = (params: string) => `{"id":1,"method":"eth_getBalance","params":${params}}`
const range = (from: number, to: number): BlockRef => ({
  kind: 'range',
  from: { kind: 'number', number: from },
  to: { kind: 'number', number: to },
})

test.each<[string, string, BlockRef?]>([
  [balance('["0xaa","latest"]'), balance('["0xaa","0x10"]')],
  [balance('["0xaa"]'), balance('["0xaa","0x10"]')],
  [balance('["0xaa",null]'), balance('["0xaa","0x10"]')],
  [
    '{"method":"eth_call","params":[{"to":"0xaa","value":12345678901234567890},"latest",{}]}',
    '{"method":"eth_call","params":[{"to":"0xaa","value":12345678901234567890},"0x10",{}]}',
  ],
  [
    filter('{"fromBlock":"0x1","toBlock":"latest"}'),
    filter('{"fromBlock":"0x1","toBlock":"0x10"}'),
    range(1, 16),
  ],
  [filter('{}'), filter('{"fromBlock":"0x10","toBlock":"0x10"}'), range(16, 16)],
])('%s becomes %s', (text, expected, block = { kind: 'number', number: 16 }) => {
  const call = jsonRpc('ETH1', text)
  const changed = pinned(call, 16)
  expect(bodyOf(changed)).toBe(expected)
  expect(changed?.method.block).toEqual(block)
})

test.each([
  balance('["0xaa","0x5"]'),
  balance('["0xaa","finalized"]'),
  balance(`["0xaa","0x${'ab'.repeat(32)}"]`),
  '{"method":"eth_blockNumber","params":[]}',
  '{"method":"eth_chainId"}',
  filter(`{"blockHash":"0x${'ab'.repeat(32)}"}`),
])('%s does not use the latest block or cannot carry a number', (text) => {
  expect(pinned(jsonRpc('ETH1', text), 16)).toBeNull()
})

it('does not change Solana commitments and Move versions', () => {
  const text = '{"method":"getBalance","params":["a",{"commitment":"confirmed"}]}'
  expect(pinned(jsonRpc('SLOTCHAIN', text), 16)).toBeNull()
  const path = '/accounts/0x1'
  const question = {
    apiInterface: 'rest',
    verb: 'GET',
    path,
    query: '',
    header: () => null,
  } as const
  expect(pinned(callOf(interfaceOf('MOVECHAIN', 'rest'), question, { path }), 16)).toBeNull()
})

test.each([
  ['{"method":"block","params":{}}', '{"method":"block","params":{"height":"16"}}'],
  ['{"method":"block","params":["0"]}', '{"method":"block","params":["16"]}'],
  ['{"method":"block"}', '{"method":"block","params":["16"]}'],
])('Tendermint RPC: %s becomes %s', (text, expected) => {
  expect(bodyOf(pinned(jsonRpc('HUBCHAIN', text, 'tendermintrpc'), 16))).toBe(expected)
})

it('Tendermint RPC in URI style uses the query', () => {
  const question = { apiInterface: 'tendermintrpc', method: 'block', params: {} } as const
  const request = { verb: 'GET', path: '/block?height=0&x=1' }
  const call = callOf(interfaceOf('HUBCHAIN', 'tendermintrpc'), question, request)
  expect(pinned(call, 16)?.request.path).toBe('/block?x=1&height=16')
})

it('REST and gRPC of Cosmos use a header', () => {
  const header = () => null
  const path = '/sdk/bank/v1beta1/supply'
  const rest = { apiInterface: 'rest', verb: 'GET', path, query: '', header } as const
  const one = callOf(interfaceOf('HUBCHAIN', 'rest'), rest, { path, headers: ['accept', '*/*'] })
  expect(pinned(one, 16)?.request.headers).toEqual(['accept', '*/*', 'x-cosmos-block-height', '16'])
  const method = 'sdk.bank.v1beta1.Query/TotalSupply'
  const grpc = { apiInterface: 'grpc', method, header } as const
  const two = callOf(interfaceOf('HUBCHAIN', 'grpc'), grpc, {
    headers: ['X-Cosmos-Block-Height', '0'],
  })
  expect(pinned(two, 16)?.request.headers).toEqual(['x-cosmos-block-height', '16'])
})

it('the Cosmos path of the latest block does not change', () => {
  const path = '/sdk/base/tendermint/v1beta1/blocks/latest'
  const rest = { apiInterface: 'rest', verb: 'GET', path, query: '', header: () => null } as const
  expect(pinned(callOf(interfaceOf('HUBCHAIN', 'rest'), rest, { path }), 16)).toBeNull()
})
