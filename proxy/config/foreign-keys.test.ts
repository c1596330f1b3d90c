// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, problemsOf } from './config-text.fixture.ts'

/* Files that were written for kindred routers are refused with what to write instead. */

const top = (text: string) => `${minimal}${text}\n`
const url = (text: string) => `${minimal}        ${text}\n`
const auth = (text: string) => `${minimal}        auth-config: {${text}}\n`
const upstream = (text: string) => minimal.replace('    node-urls:', `    ${text}\n    node-urls:`)
const endpoint = (text: string) => minimal.replace('direct-rpc:', `    ${text}\ndirect-rpc:`)
const tls = 'Listeners speak plaintext; TLS ends at the edge in front.'

test.each<[text: string, problem: string]>([
  [
    top('static-providers: []'),
    '11:1 error static-providers: unknown key "static-providers" | Primary upstreams are the entries of direct-rpc.',
  ],
  [
    top('backup-providers: [{name: a}]'),
    '11:1 error backup-providers: unknown key "backup-providers" | Upstreams that take over are the entries of backup-direct-rpc.',
  ],
  [
    top('geolocation: 1'),
    '11:1 error geolocation: unknown key "geolocation" | Upstreams are chosen by what is measured of them. Remove the key.',
  ],
  [
    upstream('stake: 10'),
    '9:5 error direct-rpc[0].stake: unknown key "stake" | Upstreams are chosen by what is measured of them; see strategy. Remove the key.',
  ],
  [
    url('internal-path: /C/rpc'),
    '11:9 error direct-rpc[0].node-urls[0].internal-path: unknown key "internal-path" | Remove the key, and the path from the end of an http URL: the spec says which path a method has, and the router appends it. A ws URL stays whole, for nothing is appended to it.',
  ],
  [
    url('ip-forwarding: true'),
    '11:9 error direct-rpc[0].node-urls[0].ip-forwarding: unknown key "ip-forwarding" | The address of a client is never sent to an upstream. Remove the key.',
  ],
  [
    url('methods: [eth_call]'),
    '11:9 error direct-rpc[0].node-urls[0].methods: unknown key "methods" | Which methods a URL serves follows from its addons. Remove the key.',
  ],
  [
    auth('use-tls: true'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.use-tls: unknown key "use-tls" | TLS follows from the scheme of the URL: https, wss or grpcs. Remove the key.',
  ],
  [
    auth('allow-insecure: true'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.allow-insecure: unknown key "allow-insecure" | Write tls: {insecure-skip-verify: true} in auth-config.',
  ],
  [
    auth('cacert-pem: /a.pem'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.cacert-pem: unknown key "cacert-pem" | Write tls: {ca-file: ...} in auth-config.',
  ],
  [
    auth('key-pem: /a.pem'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.key-pem: unknown key "key-pem" | Write tls: {key-file: ...} in auth-config.',
  ],
  [
    auth('cert-pem: /a.pem'),
    '11:23 error direct-rpc[0].node-urls[0].auth-config.cert-pem: unknown key "cert-pem" | Write tls: {cert-file: ...} in auth-config.',
  ],
  [
    url('grpc-config: {reflection-timeout: 5s}'),
    '11:9 warning direct-rpc[0].node-urls[0].grpc-config: grpc-config has no effect | Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.',
  ],
  [
    endpoint('tls-enabled: true'),
    `5:5 error endpoints[0].tls-enabled: unknown key "tls-enabled" | ${tls} Remove the key.`,
  ],
  [
    endpoint('health-check-path: /health'),
    '5:5 error endpoints[0].health-check-path: unknown key "health-check-path" | Health is told on metrics-listen-address. Remove the key.',
  ],
  [
    minimal.replace(
      /network-address: .*/,
      'network-address: {address: ":3360", disable-tls: true}',
    ),
    `2:5 error endpoints[0].network-address: is a map, and a single value is wanted | Write host:port. ${tls}`,
  ],
  [
    minimal.replace('jsonrpc\n    node-urls', 'websocket\n    node-urls'),
    '8:20 error direct-rpc[0].api-interface: "websocket" is not one of the allowed values | Write the ws or wss URL into node-urls beside the https one, for jsonrpc.',
  ],
])('%s', (text, problem) => {
  expect(problemsOf(text)).toContain(problem)
})
