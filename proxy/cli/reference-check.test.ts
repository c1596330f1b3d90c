// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseConfig } from '../config/parse.ts'
import { createReferenceCheck } from './reference-check.ts'

function entry(more: string, url = '{url: "https://h"}'): string {
  return `
endpoints: [{network-address: ":1", chain-id: ETH1, api-interface: jsonrpc}]
direct-rpc: [{name: a, chain-id: ETH1, api-interface: jsonrpc, node-urls: [${url}]}]
${more}`
}

async function problemsOf(text: string): Promise<readonly string[]> {
  const parsed = parseConfig({ name: 'test.yml', text }, { environment: {}, flags: {} })
  const problems = await createReferenceCheck().check(parsed)
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
    'that nobody can be subscribed to',
    entry('').replace(']', ', {network-address: ":2", chain-id: ETH1, api-interface: jsonrpc}]'),
    [
      '2 endpoints[0]: ETH1 jsonrpc has subscriptions, and none of its upstreams (a) has a WebSocket URL',
    ],
  ],
  [
    'an unknown chain, beside an unknown key',
    entry('stratgy: latency').replace('ETH1', 'ETH2'),
    ['2 endpoints[0].chain-id: No chain spec has the id "ETH2".'],
  ],
  [
    'an unknown add-on, beside a missing variable',
    entry('', '{url: "${NO_SUCH}", addons: [archive, debgu]}'),
    ['3 direct-rpc[0].node-urls[0].addons[1]: ETH1 has no add-on "debgu" on jsonrpc.'],
  ],
  [
    'a TLS file that is not there',
    entry('', '{url: "wss://h", auth-config: {tls: {ca-file: /no/such.pem}}}'),
    ['null : upstream a: tls.ca-file: cannot read /no/such.pem: ENOENT'],
  ],
  [
    'a spec source that is not there',
    entry('use-static-spec: [/no/such/specs]'),
    ['null use-static-spec: /no/such/specs: does not exist.'],
  ],
])('finds %s', async (_name, text, problems) => {
  expect(await problemsOf(text)).toEqual(problems)
})
