// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { ChainCatalog } from '../../chain/types.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { ApiInterface } from '../../config/types.ts'
import { whyNot } from '../../telemetry/record/recording.ts'
import { callOf } from './recorded-call.ts'

let catalog: ChainCatalog
beforeAll(async () => {
  catalog = await loadCatalog([])
})

function make(
  chain: string,
  api: ApiInterface,
  verb: string,
  path: string,
  body: string | null = null,
) {
  const iface = catalog.find(chain)?.interfaces.get(api)
  if (!iface) throw new Error(`no spec for ${chain} through ${api}`)
  const request = { verb, path, body: body === null ? null : Buffer.from(body, 'latin1') }
  return callOf(request, iface, new VirtualClock(), 7)
}

const rpc = (method: string, params = '[]') =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`

test.each<[string, ApiInterface, string, string, string | null, string, object]>([
  [
    'ETH1',
    'jsonrpc',
    'POST',
    '',
    rpc('eth_getBlockByNumber', '["0x7",false]'),
    'eth_getBlockByNumber',
    { kind: 'number', number: 7 },
  ],
  [
    'HUBCHAIN',
    'tendermintrpc',
    'POST',
    '',
    rpc('block', '{"height":"7"}'),
    'block',
    { kind: 'number', number: 7 },
  ],
  [
    'HUBCHAIN',
    'tendermintrpc',
    'GET',
    '/block?height=7',
    null,
    'block',
    { kind: 'number', number: 7 },
  ],
  [
    'HUBCHAIN',
    'rest',
    'GET',
    '/sdk/base/tendermint/v1beta1/blocks/7?a=b?c',
    null,
    '/sdk/base/tendermint/v1beta1/blocks/{height}',
    { kind: 'number', number: 7 },
  ],
  [
    'HUBCHAIN',
    'grpc',
    'POST',
    '/sdk.base.tendermint.v1beta1.Service/GetBlockByHeight',
    '\0\0\0\0\u0002\b\u0007',
    'sdk.base.tendermint.v1beta1.Service/GetBlockByHeight',
    { kind: 'number', number: 7 },
  ],
])('%s %s %s %s', (chain, api, verb, path, body, method, block) => {
  const { asked, request } = make(chain, api, verb, path, body)
  expect(asked).toMatchObject({ method, block, known: true })
  expect(whyNot(asked)).toBeNull()
  expect(request).toMatchObject({ verb, path })
  expect(request.body).toEqual(body === null ? null : Buffer.from(body, 'latin1'))
})

test.each([
  ['eth_sendRawTransaction', 'a write'],
  ['eth_subscribe', 'a subscription'],
  ['eth_accounts', 'of the state of one node'],
  ['eth_newFilter', 'of the state of one node'],
  ['eth_getFilterChanges', 'of the state of one node'],
  ['personal_sign', 'the spec does not name it: it may be a write'],
])('%s is not sent again', (method, why) => {
  expect(whyNot(make('ETH1', 'jsonrpc', 'POST', '', rpc(method)).asked)).toBe(why)
})

test('a path that leads out of the URL of the node is refused, with its line', () => {
  const refused = { name: 'BadRecording', line: 7 }
  expect(() => make('HUBCHAIN', 'rest', 'GET', '/a/%2e%2e/b')).toThrow(
    expect.objectContaining(refused),
  )
})
