// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseConfig } from '../config/parse.ts'
import { loadSpecs, validateLoaded } from '../router/checked-config.ts'

function entry(more: string, url = '{url: "https://h"}'): string {
  return `
endpoints: [{network-address: ":1", chain-id: ETH1, api-interface: jsonrpc}]
direct-rpc: [{name: a, chain-id: ETH1, api-interface: jsonrpc, node-urls: [${url}]}]
${more}`
}

/** A listener and two upstreams, each with its own alias of the chain. */
function aliased(listener: string, ...upstreams: readonly string[]): string {
  const entries = upstreams.map(
    (chain, index) =>
      `  - {name: ${'ab'[index]}, chain-id: ${chain}, api-interface: rest, node-urls: [{url: "http://h${index}"}]}`,
  )
  return `
endpoints: [{network-address: ":1", chain-id: ${listener}, api-interface: rest}]
direct-rpc:
${entries.join('\n')}`
}

async function problemsOf(text: string): Promise<readonly string[]> {
  const parsed = parseConfig(text, { environment: {}, flags: {} })
  const { problems } = validateLoaded({ parsed, ...(await loadSpecs(parsed.specSources)) })
  return problems.map(({ path, line, message }) => `${line} ${path}: ${message}`)
}

test.each([
  ['nothing', entry('skip-websocket-verification: true'), []],
  [
    'nothing about upstreams with a WebSocket',
    entry('', '{url: "https://h"}, {url: "ws://h"}'),
    [],
  ],
  [
    'without a WebSocket URL for its subscriptions',
    entry('').replace(']', ', {network-address: ":2", chain-id: ETH1, api-interface: jsonrpc}]'),
    [
      '2 endpoints[0]: ETH1 jsonrpc has subscriptions, and none of its upstreams (a) has a WebSocket URL',
    ],
  ],
  [
    'an unknown chain, beside an unknown key',
    entry('stratgy: latency').replace('ETH1', 'ETH2'),
    [
      '2 endpoints[0].chain-id: No chain spec has the id "ETH2".',
      '4 stratgy: unknown key "stratgy"',
    ],
  ],
  ['no difference between the names of a chain', aliased('MOVECHAIN', 'APT1', 'aptos'), []],
  [
    'a listener without upstreams, and upstreams without a listener',
    aliased('MOVECHAIN', 'hubchain', 'COSMOSHUB'),
    [
      '2 endpoints[0]: no upstream of direct-rpc serves MOVECHAIN rest',
      '4 direct-rpc[0]: no listener of endpoints serves HUBCHAIN rest, so this upstream is not used',
      '5 direct-rpc[1]: no listener of endpoints serves HUBCHAIN rest, so this upstream is not used',
    ],
  ],
  [
    'one name for two upstreams of one chain, whatever they call it',
    aliased('APT1', 'MOVECHAIN', 'APT1').replace('name: b', 'name: a'),
    ['5 direct-rpc[1].name: an upstream named "a" serves MOVECHAIN rest already'],
  ],
  [
    'an unknown add-on, beside a missing variable',
    entry('', '{url: "${NO_SUCH}", addons: [archive, debgu]}'),
    [
      '3 direct-rpc[0].node-urls[0].url: the variable NO_SUCH is not set',
      '3 direct-rpc[0].node-urls[0].addons[1]: ETH1 has no add-on "debgu" on jsonrpc.',
    ],
  ],
  [
    'a missing TLS file and one that is a folder, beside an unknown key',
    entry(
      'stratgy: latency',
      '{url: "wss://h", auth-config: {tls: {ca-file: /no/such.pem}}}, {url: "https://h", auth-config: {tls: {ca-file: /}}}',
    ),
    [
      '3 direct-rpc[0].node-urls[0].auth-config.tls.ca-file: /no/such.pem cannot be read: there is no such file',
      '3 direct-rpc[0].node-urls[1].auth-config.tls.ca-file: / cannot be read: it is a directory',
      '4 stratgy: unknown key "stratgy"',
    ],
  ],
  [
    'the same of a store of sessions and of one of answers',
    entry(`resp-cache: {addresses: r, tls: {ca-file: /}}
cache: {resp-cache: {addresses: s, tls: {ca-file: /no/such.pem}, password-file: /no/such}}
shared-state: true
skip-websocket-verification: true`),
    [
      '4 resp-cache.tls.ca-file: / cannot be read: it is a directory',
      '5 cache.resp-cache.tls.ca-file: /no/such.pem cannot be read: there is no such file',
      '5 cache.resp-cache.password-file: /no/such cannot be read: there is no such file',
    ],
  ],
  [
    'a policy that asks more upstreams for an add-on than declare it',
    entry(
      `cross-validation:
  policies:
    - {chain-id: ETH1, api-interface: jsonrpc, method: debug_traceTransaction, agreement-threshold: 2}
    - {chain-id: ETH1, api-interface: jsonrpc, method: trace_block, forbid-caller-cv: true}
    - {chain-id: ETH1, api-interface: jsonrpc, method: eth_getBalance, agreement-threshold: 2}
skip-websocket-verification: true`,
      '{url: "https://h"}]}, {name: b, chain-id: eth1, api-interface: jsonrpc, node-urls: [{url: "https://i"}, {url: "https://j", addons: [debug]}',
    ),
    [
      '6 cross-validation.policies[0].agreement-threshold: the floor is 2, and ETH1 jsonrpc has 1 upstream with the add-on "debug" that debug_traceTransaction needs',
    ],
  ],
  [
    'a missing spec source',
    entry('use-static-spec: [/no/such/specs]'),
    ['null use-static-spec: /no/such/specs: does not exist.'],
  ],
])('finds %s', async (_name, text, problems) => {
  expect(await problemsOf(text)).toEqual(problems)
})
