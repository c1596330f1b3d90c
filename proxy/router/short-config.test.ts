// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { formatAddress } from '../config/fields/address.ts'
import { checkConfig, problemLine } from './checked-config.ts'

const configPath = 'config.yml'
const check = (text: string) => checkConfig({ configPath, text, flags: {}, environment: {} })

/** A short config: each argument is a chain with the URL of its upstream. */
function short(...entries: readonly (readonly [chain: string, url: string])[]): string {
  const upstreams = entries.map(([chain, url], index) => {
    return `  - { name: n${index}, chain-id: '${chain}', node-urls: ['${url}'] }\n`
  })
  return `direct-rpc:\n${upstreams.join('')}skip-websocket-verification: true\n`
}

/** Listeners of a config, such as `127.0.0.1:3360 ETH1 jsonrpc`. */
async function listenersOf(text: string): Promise<readonly string[]> {
  const { config, problems } = await check(text)
  expect(problems.map((each) => problemLine(configPath, each))).toEqual([])
  return (config?.endpoints ?? []).map(({ address, chainId, apiInterface }) =>
    [formatAddress(address), chainId, apiInterface].join(' '),
  )
}

describe('listeners follow from the upstreams', () => {
  test.each<[what: string, text: string, listeners: readonly string[]]>([
    ['one chain', short(['ETH1', 'http://a']), ['127.0.0.1:3360 ETH1 jsonrpc']],
    [
      'two names of a chain',
      short(['eth', 'http://a'], ['ETH1', 'http://b']),
      ['127.0.0.1:3360 eth jsonrpc'],
    ],
    [
      'several chains, in the order of the file',
      short(['Base', 'http://a'], ['MOVECHAIN', 'http://b'], ['hubchain', 'grpc://c']),
      [
        '127.0.0.1:3360 Base jsonrpc',
        '127.0.0.1:3361 MOVECHAIN rest',
        '127.0.0.1:3362 hubchain grpc',
      ],
    ],
    [
      'an EVM chain by its id',
      short(['evm:424242', 'http://a']),
      ['127.0.0.1:3360 evm:424242 jsonrpc'],
    ],
    [
      'a bundled chain by its id and by its name',
      short(['evm:42161', 'http://a'], ['Arbitrum One', 'http://b']),
      ['127.0.0.1:3360 evm:42161 jsonrpc'],
    ],
    [
      'from an address of their own',
      `network-address: '[::1]:9000'\n${short(['ETH1', 'http://a'], ['BTC', 'http://b'])}`,
      ['[::1]:9000 ETH1 jsonrpc', '[::1]:9001 BTC jsonrpc'],
    ],
    [
      'a listener without an interface has that of its upstreams',
      `endpoints: [{ chain-id: HUBCHAIN }]
direct-rpc: [{ name: a, chain-id: COSMOS, api-interface: rest, node-urls: http://a }]\n`,
      ['0.0.0.0:3360 HUBCHAIN rest'],
    ],
  ])('%s', async (_, text, listeners) => {
    expect(await listenersOf(text)).toEqual(listeners)
  })
})

test.each<[what: string, text: string, problems: readonly string[]]>([
  [
    'an interface that the chain does not suggest',
    short(['HUBCHAIN', 'http://a']),
    [
      'config.yml:2:5: error: direct-rpc[0]: "api-interface" is missing. Interface of the upstream. Allowed: rest, tendermintrpc, grpc.',
    ],
  ],
  [
    'an unknown chain, once',
    short(['Arbitrum Two', 'http://a']),
    [
      'config.yml:2:27: error: direct-rpc[0].chain-id: No chain spec has the id "Arbitrum Two". Did you mean ARBITRUM (Arbitrum One)?',
    ],
  ],
  [
    'no upstream',
    'direct-rpc: []\n',
    ['config.yml:1:1: error: direct-rpc: the list is empty. It needs at least one entry.'],
  ],
  [
    'a misspelt list, without its listeners',
    short(['ETH1', 'http://a']).replace('direct-rpc', 'direct-rcp'),
    ['config.yml:1:1: error: direct-rcp: unknown key "direct-rcp". Did you mean "direct-rpc"?'],
  ],
  [
    'a text in place of an upstream',
    'direct-rpc: [https://a]\n',
    [
      'config.yml:1:14: error: direct-rpc[0]: must be a map with name, chain-id, api-interface, group-label, allowed-methods, denied-methods, node-urls.',
    ],
  ],
])('a short config is refused for %s', async (_, text, expected) => {
  const { problems } = await check(text)
  expect(problems.map((each) => problemLine(configPath, each))).toEqual(expected)
})

describe('the admin address', () => {
  const eth = short(['ETH1', 'http://a'])
  test.each([
    ['is on loopback', eth, { host: '127.0.0.1', port: 7779, isOptional: true }],
    ['can be switched off', `${eth}metrics-listen-address: off\n`, null],
    [
      'is required once it is named',
      `${eth}metrics-listen-address: 127.0.0.1:7779\n`,
      { host: '127.0.0.1', port: 7779 },
    ],
    [
      'yields its port to a listener',
      `${eth}endpoints: [{ chain-id: ETH1, network-address: ':7779' }]\n`,
      null,
    ],
  ])('%s', async (_, text, expected) => {
    expect((await check(text)).config?.metricsListenAddress).toEqual(expected)
  })
})
