// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { ApiInterface } from '../config/types.ts'
import { checkMethods } from './check-methods.ts'
import { parseConfig } from '../config/parse.ts'
import { loadCatalog } from './load-catalog.ts'

const catalog = await loadCatalog([])

test.each<[string, ApiInterface, string, string | null]>([
  ['ETH1', 'jsonrpc', 'eth_getBalance', null],
  ['ETH1', 'jsonrpc', 'debug_traceBlockByNumber', null],
  ['HUBCHAIN', 'rest', '/sdk/bank/v1beta1/supply', null],
  ['HUBCHAIN', 'rest', '/sdk/base/tendermint/v1beta1/blocks/{height}', null],
  ['HUBCHAIN', 'grpc', 'sdk.bank.v1beta1.Query/TotalSupply', null],
  ['HUBCHAIN', 'tendermintrpc', 'block', null],
  ['HUBCHAIN', 'rest', '/cosmos/bank/v1beta1/supply', 'is an alias of /sdk/bank/v1beta1/supply'],
  [
    'ETH1',
    'jsonrpc',
    'eth_getBalanc',
    'names no method "eth_getBalanc" on jsonrpc | Did you mean "eth_getBalance"?',
  ],
  ['ETH1', 'jsonrpc', 'eth_sendRawTransaction', 'cannot be cross-validated'],
  ['ETH1', 'jsonrpc', 'eth_subscribe', 'cannot be cross-validated'],
  ['ETH1', 'jsonrpc', 'eth_getFilterChanges', 'cannot be cross-validated'],
])('%s %s %s: %s', (chainId, apiInterface, method, expected) => {
  const entry = { 'chain-id': chainId, 'api-interface': apiInterface, method }
  const entries = { endpoints: [], upstreams: [], policies: [{ entry, path: 'p' }] }
  const found = checkMethods({ entries, config: null, locate: () => null }, catalog)
  const texts = found.map(({ message, hint }) => `${message} | ${hint ?? ''}`)
  expect(texts).toHaveLength(expected === null ? 0 : 1)
  expect(texts.join()).toContain(expected ?? '')
})

test.each<[Record<string, string>, string | null, string?]>([
  [{ method: 'eth_*' }, null],
  [{ method: '/sdk/bank/*', 'chain-id': 'COSMOSHUB' }, null],
  [{ method: 'eth_getBalanc' }, 'Did you mean "eth_getBalance"?'],
  [{ method: '/cosmos/bank/v1beta1/supply' }, 'Write "/sdk/bank/v1beta1/supply".'],
  [{ method: 'eth_call', 'chain-id': 'HUBCHAIN' }, 'Write it as the spec does.'],
  [{ method: 'eth_call', 'api-interface': 'rest' }, 'Write it as the spec does.'],
  [{ method: 'eth_sendRawTransaction', ttl: '1s' }, 'Remove the policy.'],
  [{ method: 'eth_*Filter', class: 'latest', ttl: '1s' }, 'Remove the policy.'],
  [{ method: 'eth_*', ttl: '1s' }, null],
  [{ method: 'eth_getBlockByNumber', ttl: '1s' }, null],
  [{ method: 'eth_sendRawTransaction' }, null],
  [
    { method: 'getblock', 'chain-id': 'BTC' },
    'Existing ones serve ETH1 jsonrpc, HUBCHAIN rest.',
    'chain-id',
  ],
  [
    { method: 'eth_call', 'chain-id': 'NOPE' },
    'Existing ones serve ETH1 jsonrpc, HUBCHAIN rest.',
    'chain-id',
  ],
  [
    { method: 'a/B', 'api-interface': 'grpc' },
    'Existing ones serve ETH1 jsonrpc, HUBCHAIN rest.',
    'api-interface',
  ],
])('a policy of the cache for %j: %s', (policy, hint, key = 'method') => {
  const listeners = [
    { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', 'network-address': '127.0.0.1:1' },
    { 'chain-id': 'HUBCHAIN', 'api-interface': 'rest', 'network-address': '127.0.0.1:2' },
  ]
  const upstreams = listeners.map(({ 'network-address': name, ...serves }) => ({
    ...{ name: `n${name.at(-1)}`, ...serves, 'node-urls': [{ url: 'http://a' }] },
  }))
  const file = {
    endpoints: listeners,
    'direct-rpc': upstreams,
    cache: { policies: [{ ttl: 'never', ...policy }] },
  }
  const parsed = parseConfig(JSON.stringify(file), { environment: {}, flags: {} })
  const found = checkMethods(parsed, catalog)
  expect(found.map((each) => [each.path, each.hint])).toEqual(
    hint === null ? [] : [[`cache.policies[0].${key}`, hint]],
  )
})

test.each([
  ['eth_*', null],
  ['eth_getLogz', 'Did you mean "eth_getLogs"?'],
  ['trase_*', null],
])('the pattern %s of a list of methods', (pattern, hint) => {
  const entry = {
    'chain-id': 'ETH1',
    'api-interface': 'jsonrpc',
    'denied-methods': [pattern],
  } as const
  const entries = { endpoints: [{ entry, path: 'e' }], upstreams: [], policies: [] }
  const found = checkMethods({ entries, config: null, locate: () => null }, catalog)
  const warning = { severity: 'warning', path: 'e.denied-methods[0]' }
  expect(found).toMatchObject(pattern === 'eth_*' ? [] : [warning])
  if (hint !== null) expect(found[0]?.hint).toBe(hint)
})
