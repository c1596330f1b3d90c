// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { ApiInterface } from '../config/types.ts'
import { dialects } from '../upstream/dialect.ts'
import { isEmptyResult } from './shown-block.ts'

const result = (text: string) => `{"jsonrpc":"2.0","id":1,"result":${text}}`
const frame = (message: string) =>
  `\0${String.fromCharCode(0, 0, 0, message.length / 2)}${Buffer.from(message, 'hex').toString('latin1')}`

test.each<[string, ApiInterface, string, boolean]>([
  ['an empty list', 'jsonrpc', result('[]'), true],
  ['an empty list with white space', 'jsonrpc', result('[ \n]'), true],
  ['an empty list of 1.0', 'jsonrpc', '{"id":1,"error":null,"result":[]}', true],
  ['an empty object', 'jsonrpc', result('{}'), true],
  ['a page of Tendermint RPC', 'tendermintrpc', result('{"txs":[],"total_count":"0"}'), true],
  ['a page of Cosmos', 'rest', '{"balances":[],"pagination":{"next_key":null,"total":"0"}}', true],
  ['a list of Aptos', 'rest', '[]', true],
  ['a message of gRPC without fields', 'grpc', frame(''), true],
  ['a list', 'jsonrpc', result('[{}]'), false],
  ['a list of null', 'jsonrpc', result('[null]'), false],
  ['a balance of zero', 'jsonrpc', result('"0x0"'), false],
  ['a number', 'jsonrpc', result('0'), false],
  ['a balance of zero in an object', 'rest', '{"balance":"0"}', false],
  ['zeros in an object', 'jsonrpc', result('{"free":0,"locked":"0","memo":""}'), false],
  ['empty data of a contract', 'jsonrpc', result('"0x"'), false],
  ['false', 'jsonrpc', result('false'), false],
  ['null', 'jsonrpc', result('null'), false],
  ['an error', 'jsonrpc', '{"id":1,"error":{"code":1,"message":"[]"}}', false],
  ['a page with an item', 'rest', '{"balances":[{"denom":"a"}],"pagination":null}', false],
  ['a page with a total', 'rest', '{"txs":[],"total":"7"}', false],
  ['a block without transactions', 'rest', '{"height":"5","txs":[]}', false],
  ['a message of gRPC with a field', 'grpc', frame('0801'), false],
  ['a long answer', 'rest', `[]${' '.repeat(2_000)}`, false],
])('whether an answer is empty: %s', (_, apiInterface, text, expected) => {
  const trailers = () => (apiInterface === 'grpc' ? ['grpc-status', '0'] : [])
  const incoming = { status: 200, headers: [], body: Buffer.from(text, 'latin1'), trailers }
  expect(isEmptyResult(incoming, null, dialects[apiInterface])).toBe(expected)
})
