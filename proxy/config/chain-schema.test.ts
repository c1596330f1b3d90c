// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { withChains } from './chain-schema.ts'
import { configJsonSchema } from './json-schema.ts'

const schema = withChains(configJsonSchema(), ['ETH1', 'Arbitrum One', 'BTC-SIGNET'])
const accepts = new Ajv({ strict: false, allErrors: true }).compile(schema)
const served = (chain: string) => ({ 'chain-id': chain, 'api-interface': 'jsonrpc' })
const nodes = { 'node-urls': [{ url: 'http://127.0.0.1:8545' }] }

function configOf(listened: string, upstream = listened) {
  return {
    endpoints: [served(listened)],
    'direct-rpc': [{ name: 'a', ...served(upstream), ...nodes }],
  }
}

test.each(['ETH1', 'eth1', 'arbitrum one', 'Arbitrum-One', 'btc-signet', 'evm:8453', '${CHAIN}'])(
  'the schema knows %s',
  (chain) => {
    expect(accepts(configOf(chain)), JSON.stringify(accepts.errors)).toBe(true)
  },
)

test.each([
  ['ETH2', 'ETH2', '/endpoints/0/chain-id'],
  ['ETH1', 'ETH', '/direct-rpc/0/chain-id'],
  ['evm:base', 'ETH1', '/endpoints/0/chain-id'],
])('the schema refuses a listener of %s with an upstream of %s', (listened, upstream, place) => {
  expect(accepts(configOf(listened, upstream))).toBe(false)
  expect(accepts.errors?.map(({ instancePath }) => instancePath)).toContain(place)
})

test('a chain of its own specs is not refused', () => {
  expect(accepts({ ...configOf('MINE'), 'use-static-spec': ['mine.yml'] })).toBe(true)
})
