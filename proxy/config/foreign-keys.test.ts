// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, problemsOf } from './config-text.fixture.ts'

/* The parser rejects the keys of similar routers and suggests ours. */

const top = (text: string) => `${minimal}${text}\n`
const url = (text: string) => `${minimal}        ${text}\n`
const auth = (text: string) => `${minimal}        auth-config: {${text}}\n`
const upstream = (text: string) => minimal.replace('    node-urls:', `    ${text}\n    node-urls:`)
const endpoint = (text: string) => minimal.replace('direct-rpc:', `    ${text}\ndirect-rpc:`)

test.each<[text: string, problem: string]>([
  [
    top('static-providers: []'),
    '11:1 error static-providers: unknown key "static-providers" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
  ],
  [
    top('backup-providers: [{name: a}]'),
    '11:1 error backup-providers: unknown key "backup-providers" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
  ],
  [
    upstream('stake: 10'),
    '9:5 error direct-rpc[0].stake: unknown key "stake" | Known here: name, chain-id, api-interface, group-label, allowed-methods, denied-methods, node-urls.',
  ],
  [
    url('internal-path: /C/rpc'),
    '11:9 error direct-rpc[0].node-urls[0].internal-path: unknown key "internal-path" | Known here: url, timeout, max-batch, limits, max-log-blocks, compression, trace-context, addons, skip-verifications, auth-config, grpc-config.',
  ],
  [
    auth('use-tls: true'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.use-tls: unknown key "use-tls" | Known here: auth-headers, auth-query, tls.',
  ],
  [
    auth('cacert-pem: /a.pem'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.cacert-pem: unknown key "cacert-pem" | Known here: auth-headers, auth-query, tls.',
  ],
  [
    url('grpc-config: {reflection-timeout: 5s}'),
    '11:9 warning direct-rpc[0].node-urls[0].grpc-config: grpc-config has no effect | Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.',
  ],
  [
    endpoint('tls-enabled: true'),
    '5:5 error endpoints[0].tls-enabled: unknown key "tls-enabled" | Known here: network-address, listen-address, chain-id, api-interface, allowed-methods, denied-methods, relay.',
  ],
  [
    minimal.replace(
      /network-address: .*/,
      'network-address: {address: ":3360", disable-tls: true}',
    ),
    '2:5 error endpoints[0].network-address: is a map; expected a single value | ',
  ],
  [
    minimal.replace('jsonrpc\n    node-urls', 'websocket\n    node-urls'),
    '8:20 error direct-rpc[0].api-interface: "websocket" is not one of the allowed values | Allowed: jsonrpc, rest, tendermintrpc, grpc.',
  ],
])('%s', (text, problem) => {
  expect(problemsOf(text)).toContain(problem)
})
