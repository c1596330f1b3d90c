// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, problemsOf } from './config-text.fixture.ts'

interface Case {
  readonly text: string
  readonly environment?: Readonly<Record<string, string>>
  /** Format: `line:column severity path: message | hint`. */
  readonly problems: readonly string[]
}

const nested = (depth: number): string =>
  Array.from({ length: depth + 1 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')

const aliasBomb = Array.from({ length: 8 }, (_, level) => {
  const item = level === 0 ? 'x' : `*a${level - 1}`
  return `k${level}: &a${level} [${Array(9).fill(item).join(',')}]\n`
}).join('')

const quotesHint =
  'Put a value with ": ", "[" or "{" in it in quotes, such as "[::1]:3360" or "https://h/${KEY}".'

const url = (text: string): string => minimal.replace('https://one.example.com/v1', text)

const auth = (text: string): string => `${minimal}        auth-config:\n          ${text}\n`

const grpc = (text: string): string =>
  url(text).replaceAll('ETH1', 'HUBCHAIN').replaceAll('jsonrpc', 'grpc')

const listener = (keys: string): string =>
  minimal.replace(
    'direct-rpc:',
    `  - {chain-id: ETH1, api-interface: jsonrpc, ${keys}}\ndirect-rpc:`,
  )

const backups = `backup-direct-rpc:
  - {name: one, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{url: "http://x"}]}
  - {name: two, chain-id: BTC, api-interface: jsonrpc, node-urls: [{url: "http://x"}]}
`

const wrongSettings = `max-relay-attempts: 0
set-relay-retry-limit: -1
max-request-bytes: big
skip-websocket-verification: maybe
epoch-duration: 1ms
drain-timeout: 2h
max-sessions-per-provider: 1e3
liveness-probe-interval: 5
use-static-spec: https://a:b@c/
log-level: trace
env-file: [a, ]
upstream-failure-threshold: {}
health-check-interval: []
strategy:
`

const yamlCases: readonly Case[] = [
  {
    text: '',
    problems: [
      '-:- error : the file is empty | It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  },
  {
    text: '# only a comment\n',
    problems: [
      '-:- error : the file is empty | It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  },
  {
    text: '\uFEFF',
    problems: [
      '-:- error : the file is empty | It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  },
  {
    text: '---\n',
    problems: [
      '-:- error : the file is empty | It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  },
  {
    text: '\t\n',
    problems: [
      '-:- error : the file is empty | It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  },
  {
    text: '{}',
    problems: [
      '-:- error : "endpoints" is missing | Listeners: one per chain and interface.',
      '-:- error : "direct-rpc" is missing | Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
    ],
  },
  {
    text: '[]',
    problems: [
      '1:1 error : the top level of the file is not a map | It begins with keys such as direct-rpc:.',
    ],
  },
  {
    text: '- a\n- b\n',
    problems: [
      '1:1 error : the top level of the file is not a map | It begins with keys such as direct-rpc:.',
    ],
  },
  {
    text: 'hello',
    problems: [
      '1:1 error : the top level of the file is not a map | It begins with keys such as direct-rpc:.',
    ],
  },
  {
    text: 'null',
    problems: [
      '1:1 error : the top level of the file is not a map | It begins with keys such as direct-rpc:.',
    ],
  },
  {
    text: 'a: 1\n---\nb: 2\n',
    problems: [
      '2:1 error : the file holds several YAML documents | Keep one; remove the --- lines.',
    ],
  },
  {
    text: 'a: [1\n',
    problems: [
      '2:1 error : not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ] | ',
    ],
  },
  { text: 'a: "b\n', problems: ['2:1 error : not valid YAML: Missing closing "quote | '] },
  {
    text: 'endpoints:\n\t- a: 1\n',
    problems: [
      '2:1 error : not valid YAML: Tabs are not allowed as indentation | Indent with spaces.',
    ],
  },
  {
    text: 'a: b: c\n',
    problems: [
      `1:4 error : not valid YAML: Nested mappings are not allowed in compact mappings | ${quotesHint}`,
    ],
  },
  {
    text: 'a\0b: 1',
    problems: ['1:2 error : the file holds a control character | Is it a text file?'],
  },
  {
    text: 'a: !foo x',
    problems: ['1:4 error : a YAML tag ("!...") is not supported here | Remove the tag.'],
  },
  {
    text: 'endpoints: []\ndirect-rpc: !!seq []\nstrategy: !!str latency\n',
    problems: [
      '1:1 error endpoints: the list is empty | It needs at least one entry.',
      '2:19 error direct-rpc: a YAML tag ("!...") is not supported here | Remove the tag.',
      '3:17 error strategy: a YAML tag ("!...") is not supported here | Remove the tag.',
    ],
  },
  {
    text: 'endpoints:\n  - network-address: [::1]:3360\n',
    problems: [`2:27 error : not valid YAML: Unexpected scalar at node end | ${quotesHint}`],
  },
  { text: 'a: *x', problems: ['1:4 error a: the alias *x has no anchor &x before it | '] },
  {
    text: 'a: &x [*x]',
    problems: [
      '1:8 error : the alias *x is inside its own anchor, or the file has too many aliases | ',
    ],
  },
  { text: '? [a]\n: b\n', problems: ['1:3 error : a key is not a plain text | Write key: value.'] },
  {
    text: '? {a: b}\n: c',
    problems: ['1:3 error : a key is not a plain text | Write key: value.'],
  },
  {
    text: 'null: 1\n1: 2\n',
    problems: [
      '-:- error : "endpoints" is missing | Listeners: one per chain and interface.',
      '-:- error : "direct-rpc" is missing | Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
      '1:1 error null: unknown key "null" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
      '2:1 error 1: unknown key "1" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
    ],
  },
  {
    text: 'a: &x {b: 1}\nc:\n  <<: *x\n',
    problems: ['3:3 error c: merge keys (<<) are not supported | Write the keys out.'],
  },
  {
    text: '['.repeat(500),
    problems: ['1:65 error : values nest more than 64 levels deep | Is it the right file?'],
  },
  {
    text: nested(80),
    problems: ['64:65 error : values nest more than 64 levels deep | Is it the right file?'],
  },
  {
    text: nested(50),
    problems: [
      '-:- error : "endpoints" is missing | Listeners: one per chain and interface.',
      '-:- error : "direct-rpc" is missing | Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
      '1:1 error a: unknown key "a" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
    ],
  },
  {
    text: aliasBomb,
    problems: [
      '2:42 error : the alias *a0 is inside its own anchor, or the file has too many aliases | ',
    ],
  },
]

const configCases: readonly Case[] = [
  {
    text: `${minimal}  - {name: two, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{url: "https://one.example.com/v1"}]}\n`,
    problems: [
      '11:75 warning direct-rpc[1].node-urls[0].url: upstream "one" has the same URL, on line 10 | A retry at one of them is no second chance, and its failures count twice.',
    ],
  },
  ...['http://localhost:3360', 'ws://127.0.0.1:3360/x', 'http://[::1]:3360'].map((text) => ({
    text: url(text),
    problems: [
      "10:14 warning direct-rpc[0].node-urls[0].url: the URL is the router's own listener, 127.0.0.1:3360 of endpoints[0] | Its calls would loop. Name the node itself.",
    ],
  })),
  {
    text: `${minimal}log-level: info\nlog-level: debug\n`,
    problems: ['12:1 error log-level: the key "log-level" is repeated | Keep one of them.'],
  },
  {
    text: minimal.replace('chain-id: ETH1', 'chain-id: ETH1\n    chain-id: ETH1'),
    problems: [
      '4:5 error endpoints[0].chain-id: the key "chain-id" is repeated | Keep one of them.',
    ],
  },
  {
    text: url('“https://x/SECRET”').replace('name: one', 'name: “one”'),
    problems: [
      `6:11 error direct-rpc[0].name: "“one”" has typographic quotes instead of plain ones (" or ') | `,
      `10:14 error direct-rpc[0].node-urls[0].url: the value has typographic quotes instead of plain ones (" or ') | `,
    ],
  },
  {
    text: 'a: {url: http://h/${KEY}, timeout: 5s}\n',
    problems: [
      `1:20 error : not valid YAML: Unexpected flow-map-start at node end | ${quotesHint}`,
    ],
  },
  {
    text: url('eth.example.com/SECRET'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL without a scheme | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  {
    text: url('htps://x/SECRET'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with a scheme that is not known | Did you mean https? Allowed: http, https, ws, wss, grpc, grpcs.',
    ],
  },
  {
    text: url('https://'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is not a valid URL | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  {
    text: url('grpc://\u{18cd6}b:9090'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is not a valid URL | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  {
    text: url('https://a b/'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with white space in it | Write a space as %20.',
    ],
  },
  {
    text: url('https://x/#SECRET'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with a fragment ("#...") | Write # as %23 if it is part of a key.',
    ],
  },
  {
    text: url('https://x:99999/'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is not a valid URL | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  ...['https://x:0', 'http://SECRET:00/', 'wss://a:b@x:0?key=SECRET'].map((text) => ({
    text: url(text),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with port 0, to which no connection is possible | Write a port from 1 to 65535, or none for that of the scheme.',
    ],
  })),
  ...[
    'https://App.example',
    'https://app.example/',
    'https://app.example:443',
    'app.example',
    '*',
  ].map((origin) => ({
    text: `allowed-origins: ['${origin}']\n${minimal}`,
    problems: [
      `1:19 error allowed-origins[0]: "${origin}" is not an origin | Write what browsers send, such as https://app.example.org: a scheme and a host in lower case, the port unless it is the usual one, no path, no slash behind.`,
    ],
  })),
  ...['10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'proxy.example', '10.0.0.0/'].map((range) => ({
    text: `trusted-proxies: ['${range}']\n${minimal}`,
    problems: [
      `1:19 error trusted-proxies[0]: "${range}" is not an address range | Write one such as 10.0.0.0/8 or fd00::/8.`,
    ],
  })),
  {
    text: `use-static-spec: https://specs.example:70000/a\n${minimal}`,
    problems: [
      '1:18 error use-static-spec: "https://specs.example:70000/a" cannot be a spec source | Write a file, a directory or a URL without a user name and password in it. A port is 1 to 65535.',
    ],
  },
  {
    text: url('"https://x/\\n"'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with a line break in it | Does the variable end with one?',
    ],
  },
  {
    text: url('""'),
    problems: ['10:14 error direct-rpc[0].node-urls[0].url: the value is empty | '],
  },
  { text: url(''), problems: ['10:14 error direct-rpc[0].node-urls[0].url: has no value | '] },
  {
    text: url('[]'),
    problems: ['10:9 error direct-rpc[0].node-urls[0].url: is a list; expected a single value | '],
  },
  {
    text: url('wss://x').replaceAll('jsonrpc', 'rest'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: a wss URL cannot serve rest | Write one of: http, https.',
    ],
  },
  {
    text: url('5'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL without a scheme | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  {
    text: url('https://a%zz:b@x/'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the value is a URL with a wrong escape (%) in its user name or password | ',
    ],
  },
  {
    text: url('https://x\n        timeout: 5'),
    problems: [
      '11:18 error direct-rpc[0].node-urls[0].timeout: "5" has no unit | Write one such as 500ms, 5s or 1m30s.',
    ],
  },
  {
    text: url('https://x\n        timeout: -5s'),
    problems: [
      '11:18 error direct-rpc[0].node-urls[0].timeout: "-5s" is not a duration | Write one such as 500ms, 5s or 1m30s.',
    ],
  },
  {
    text: url('https://x\n        timeout: 0s'),
    problems: [
      '11:18 error direct-rpc[0].node-urls[0].timeout: "0s" is too small | The minimum is 1ms.',
    ],
  },
  {
    text: url('https://x\n        timeout: fast'),
    problems: [
      '11:18 error direct-rpc[0].node-urls[0].timeout: "fast" is not a duration | Write one such as 500ms, 5s or 1m30s.',
    ],
  },
  {
    text: url('https://x\n        timeout: 48h'),
    problems: [
      '11:18 error direct-rpc[0].node-urls[0].timeout: "48h" is too large | The maximum is 24h.',
    ],
  },
  {
    text: auth(
      'auth-headers: {Host: x, Connection: y, "a b": z, X: "a\\nb", Y: [], Z:, x: 1, W: "\\u20ac"}',
    ),
    problems: [
      '12:47 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Connection: the header "Connection" belongs to the connection and cannot be set | Remove it.',
      '12:57 error direct-rpc[0].node-urls[0].auth-config.auth-headers["a b"]: "a b" is not a header name | Remove it.',
      '12:63 error direct-rpc[0].node-urls[0].auth-config.auth-headers.X: the value has a line break in it | ',
      '12:71 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Y: expected a single value | ',
      '12:80 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Z: has no value | ',
      '12:85 error direct-rpc[0].node-urls[0].auth-config.auth-headers.x: "x" is repeated; header names have no case | Remove it.',
      '12:91 error direct-rpc[0].node-urls[0].auth-config.auth-headers.W: the value has a character that a header cannot carry | ',
    ],
  },
  {
    text: url('https://x\n        limits: 5\n        auth-config: 5'),
    problems: [
      '11:17 error direct-rpc[0].node-urls[0].limits: must be a map with per-second, per-day, concurrent | ',
      '12:22 error direct-rpc[0].node-urls[0].auth-config: must be a map with auth-headers, auth-query, tls | ',
    ],
  },
  {
    text: `${minimal.split('      - url')[0]}      - 5\n`,
    problems: [
      '10:9 error direct-rpc[0].node-urls[0].url: the value is a URL without a scheme | Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  },
  {
    text: auth('auth-headers: []'),
    problems: [
      '12:11 error direct-rpc[0].node-urls[0].auth-config.auth-headers: is a list; expected a map ("key: value") | ',
    ],
  },
  {
    text: auth('auth-query: "a=b&a=c&=d"'),
    problems: [
      '12:23 error direct-rpc[0].node-urls[0].auth-config.auth-query: a parameter is repeated | Write k=v&k2=v2.',
      '12:23 error direct-rpc[0].node-urls[0].auth-config.auth-query: a parameter has no name or no value | Write k=v&k2=v2.',
    ],
  },
  {
    text: auth('auth-query: {a: b, c: [] }'),
    problems: [
      '12:30 error direct-rpc[0].node-urls[0].auth-config.auth-query.c: expected a single value | ',
    ],
  },
  {
    text: auth('auth-query: ""'),
    problems: [
      '12:23 error direct-rpc[0].node-urls[0].auth-config.auth-query: there is no parameter | Write k=v&k2=v2.',
    ],
  },
  {
    text: grpc('grpcs://one.example.com/?key=S3CRET'),
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: gRPC has no query parameters | Write the key under auth-config, auth-headers: it is sent as metadata.',
    ],
  },
  {
    text: grpc('https://one.example.com?'),
    problems: [],
  },
  {
    text: `${grpc('http://one.example.com')}        auth-config: {auth-query: {key: S3CRET}}\n`,
    problems: [
      '11:23 error direct-rpc[0].node-urls[0].auth-config.auth-query: gRPC has no query parameters | Write the key under auth-config, auth-headers: it is sent as metadata.',
    ],
  },
  {
    text: auth('tls: {cert-file: a.pem}').replace('https', 'http'),
    problems: [
      '12:11 error direct-rpc[0].node-urls[0].auth-config.tls: TLS is configured for a URL whose scheme, http, has none | Write https or remove tls.',
      '12:28 error direct-rpc[0].node-urls[0].auth-config.tls.cert-file: cert-file needs key-file beside it | ',
    ],
  },
  {
    text: auth('tls: {insecure-skip-verify: yes}'),
    problems: [
      '12:39 error direct-rpc[0].node-urls[0].auth-config.tls.insecure-skip-verify: "yes" is neither true nor false | ',
    ],
  },
  {
    text: auth('auth-headers: {Authorization: x}').replace('https://', 'https://u:p@'),
    problems: [
      '12:41 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Authorization: the URL has a user and a password, which are an authorization header too | Keep one of them.',
    ],
  },
  {
    text: auth('auth-headers: {X: "${A}", Y: "${B}${A}", Z: "${C}"}').replace('one.ex', '${A}.ex'),
    environment: { C: '' },
    problems: [
      '10:14 error direct-rpc[0].node-urls[0].url: the variable A is not set | Set it in the environment or in an env file (--env-file).',
      '12:40 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Y: the variable B is not set | Set it in the environment or in an env file (--env-file).',
      '12:55 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Z: the variable C is empty | Set it in the environment or in an env file (--env-file).',
    ],
  },
  {
    text: auth('auth-headers: {X: "${A}", Y: "${A", Z: "${A:-b}"}'),
    environment: { A: 'CANARY\n' },
    problems: [
      '12:29 error direct-rpc[0].node-urls[0].auth-config.auth-headers.X: the value has a line break in it | Check the variables in it.',
      '12:40 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Y: a placeholder is not well formed | Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.',
      '12:50 error direct-rpc[0].node-urls[0].auth-config.auth-headers.Z: a placeholder is not well formed | Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.',
    ],
  },
  {
    text: minimal.replace('name: one', 'name: ${N}'),
    environment: { N: 'CANARY' },
    problems: [
      '6:11 error direct-rpc[0].name: "${N}" cannot hold a placeholder, because logs, metrics or headers show it | Write the text itself.',
    ],
  },
  {
    text: minimal.replace('name: one', 'name: a,b'),
    problems: [
      '6:11 error direct-rpc[0].name: "a,b" cannot be a name | Printable ASCII without commas and outer spaces, 128 characters at most.',
    ],
  },
  {
    text: minimal.replace('name: one', 'nam: one'),
    problems: ['6:5 error direct-rpc[0].nam: unknown key "nam" | Did you mean "name"?'],
  },
  {
    text: minimal.replace('127.0.0.1:3360', '${H}:1'),
    environment: { H: 'CANARY' },
    problems: [
      '2:22 error endpoints[0].network-address: "${H}:1" is not an IP address with a port once rendered | A placeholder cannot yield anything else here.',
    ],
  },
  {
    text: minimal.replace('127.0.0.1:3360', 'http://x'),
    problems: [
      '2:22 error endpoints[0].network-address: "http://x" is a URL; expected an address | Write host:port, such as 0.0.0.0:3360, "[::1]:3360" (in YAML with the quotes) or :3360.',
    ],
  },
  {
    text: minimal.replace('jsonrpc', 'json-rpc'),
    problems: [
      '4:20 error endpoints[0].api-interface: "json-rpc" is not one of the allowed values | Did you mean jsonrpc? Allowed: jsonrpc, rest, tendermintrpc, grpc.',
    ],
  },
  {
    text: minimal.replace('jsonrpc', 'grpc'),
    problems: [
      '2:5 error endpoints[0]: no upstream of direct-rpc serves ETH1 grpc | Existing ones serve ETH1 jsonrpc.',
      '6:5 warning direct-rpc[0]: no listener of endpoints serves ETH1 jsonrpc, so this upstream is not used | ',
    ],
  },
  {
    text: `${minimal}metrics-listen-address: :3360\n`,
    problems: [
      '2:22 error endpoints[0].network-address: 127.0.0.1:3360 collides with 0.0.0.0:3360 of metrics-listen-address on line 11 | Give each its own port.',
    ],
  },
  {
    text: `${minimal}${backups}`,
    problems: [
      '12:12 error backup-direct-rpc[0].name: an upstream named "one" serves ETH1 jsonrpc already | It is on line 6. Names are unique per chain and interface, over both tiers.',
      '13:5 warning backup-direct-rpc[1]: no listener of endpoints serves BTC jsonrpc, so this upstream is not used | ',
    ],
  },
  {
    text: minimal.replace('direct-rpc', 'backup-direct-rpc'),
    problems: [
      '-:- error : "direct-rpc" is missing | Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
      '2:5 error endpoints[0]: no upstream of direct-rpc serves ETH1 jsonrpc | Add one.',
    ],
  },
  {
    text: minimal.replace(/direct-rpc[^]*/, 'direct-rpc: []\n'),
    problems: ['2:5 error endpoints[0]: no upstream of direct-rpc serves ETH1 jsonrpc | Add one.'],
  },
  {
    text: minimal.replace(/direct-rpc[^]*/, 'direct-rpc:\n'),
    problems: [
      '2:5 error endpoints[0]: no upstream of direct-rpc serves ETH1 jsonrpc | Add one.',
      '5:12 error direct-rpc: has no value | ',
    ],
  },
  {
    text: minimal.replace(/^[^]*direct-rpc/, 'endpoints: []\ndirect-rpc'),
    problems: [
      '1:1 error endpoints: the list is empty | It needs at least one entry.',
      '3:5 warning direct-rpc[0]: no listener of endpoints serves ETH1 jsonrpc, so this upstream is not used | ',
    ],
  },
  {
    text: `${minimal.replace('127.0.0.1:3360', '127.0.0.1:0')}workers: auto\n`,
    problems: [
      '2:22 error endpoints[0].network-address: port 0 would be a different port for each worker | Name a port.',
    ],
  },
  {
    text: listener('network-address: ":3360"'),
    problems: [
      '5:63 error endpoints[1].network-address: 0.0.0.0:3360 collides with 127.0.0.1:3360 of endpoints[0] on line 2 | Give each its own port.',
    ],
  },
  {
    text: listener('network-address: "1.2.3.4:3360", listen-address: ":80"'),
    problems: [
      '5:95 error endpoints[1].listen-address: network-address and listen-address are two names of one key | Keep one of them.',
    ],
  },
  {
    text: listener('network-address: "1.2.3.4:80", listen-address: "1.2.3.4:80"'),
    problems: [],
  },
  {
    text: `${minimal}cache-bytes: 0\ncache-be: cache\n`,
    problems: [
      '12:11 warning cache-be: cache-be has no effect while cache-bytes is 0 | Set cache-bytes, such as 128MiB: each replica caches answers in its memory first.',
    ],
  },
  {
    text: `${minimal}cache-be: "cache:80a"\n`,
    problems: [
      '11:11 error cache-be: "cache:80a" has no valid port | Write host:port, such as store.example.com:20100.',
    ],
  },
  {
    text: `${minimal}cache-be: cache\ncache-bytes: 1MiB\nresp-cache: {addresses: redis}\n`,
    problems: [
      '13:1 error resp-cache: resp-cache has no effect | Answers are in cache.resp-cache, else in cache-be, else in resp-cache; sessions, with shared-state, in resp-cache, else in cache-be.',
    ],
  },
  {
    text: `${minimal}cache-be: cache\nshared-state: true\nresp-cache: {addresses: redis}\ncache: {resp-cache: {addresses: [a, b]}}\n`,
    problems: [
      '11:11 error cache-be: cache-be has no effect | Answers are in cache.resp-cache, else in cache-be, else in resp-cache; sessions, with shared-state, in resp-cache, else in cache-be.',
      '14:22 error cache.resp-cache.addresses: topology standalone has one address | Is it a sentinel or a cluster?',
    ],
  },
  {
    text: `${minimal}cache: {resp-cache: {addresses: a}, policies: [{method: m, ttl: 1s}]}\nresp-cache: {addresses: r}\ncache-bytes: 0\n`,
    problems: [
      '11:9 warning cache.resp-cache: cache.resp-cache has no effect while cache-bytes is 0 | Set cache-bytes, such as 128MiB: each replica caches answers in its memory first.',
      '11:37 warning cache.policies: cache.policies has no effect while cache-bytes is 0 | Set cache-bytes, such as 128MiB: each replica caches answers in its memory first.',
      '12:1 warning resp-cache: resp-cache has no effect while cache-bytes is 0 | Set cache-bytes, such as 128MiB: each replica caches answers in its memory first.',
    ],
  },
  {
    text: `${minimal}cache: {shared: false, resp-cache: {addresses: a}}\nresp-cache: {addresses: r}\nshared-state: true\n`,
    problems: [
      '11:24 warning cache.resp-cache: cache.resp-cache has no effect while cache.shared is false | Remove one of them.',
    ],
  },
  {
    text: `${minimal}cache: {shared: true}\nshared-state: true\n`,
    problems: [
      '11:17 error cache.shared: there is no store to share answers in | Set cache-be or resp-cache.',
    ],
  },
  {
    text: `${minimal}resp-cache: {}\n`,
    problems: [
      '11:1 error resp-cache: "addresses" is missing | Addresses of its nodes; of the sentinels with topology sentinel. Without a port: 6379.',
    ],
  },
  {
    text: `${minimal}resp-cache:
  topology: standalone
  addresses: [redis:1, "redis:1", ":6379", "redis://h", "a b"]
  master-name: m
  username: u
  db: 70000
  key-prefix: "a b"
  tls: {cert-file: c.pem}
`,
    problems: [
      '13:3 error resp-cache.addresses: topology standalone has one address | Is it a sentinel or a cluster?',
      '13:24 error resp-cache.addresses[1]: the address is listed twice | ',
      '13:35 error resp-cache.addresses[2]: ":6379" has no host to connect to | Write host:port, such as store.example.com:6379.',
      '13:44 error resp-cache.addresses[3]: "redis://h" is a URL; expected an address | Write host:port, such as store.example.com:6379.',
      '13:57 error resp-cache.addresses[4]: "a b" is not an address | Write host:port, such as store.example.com:6379.',
      '14:16 error resp-cache.master-name: master-name is for topology sentinel alone | Remove it.',
      '15:13 error resp-cache.username: username needs password or password-file beside it | ',
      '16:7 error resp-cache.db: "70000" is too large | The maximum is 65535.',
      '17:15 error resp-cache.key-prefix: "a b" cannot be a prefix | Printable ASCII without spaces, 128 characters at most.',
      '18:20 error resp-cache.tls.cert-file: cert-file needs key-file beside it | ',
    ],
  },
  {
    text: `${minimal}resp-cache: {addresses: r, password: p, password-file: f, topology: cluster, db: 1}\n`,
    problems: [
      '11:56 error resp-cache.password-file: password and password-file exclude each other | Keep one.',
      '11:82 error resp-cache.db: a cluster has no database but 0 | ',
    ],
  },
  {
    text: `${minimal}strateg: x\nzebra: 1\nnode-urls: []\nmin-groups: 2\n__proto__: 1\nconstructor: 2\n`,
    problems: [
      '11:1 error strateg: unknown key "strateg" | Did you mean "strategy"?',
      '12:1 error zebra: unknown key "zebra" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
      '13:1 error node-urls: unknown key "node-urls" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
      '14:1 error min-groups: unknown key "min-groups" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
      '15:1 error __proto__: unknown key "__proto__" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
      '16:1 error constructor: unknown key "constructor" | Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
    ],
  },
  {
    text: `${minimal}${wrongSettings}`,
    problems: [
      '11:21 error max-relay-attempts: "0" is too small | The minimum is 1.',
      '12:24 error set-relay-retry-limit: "-1" is too small | The minimum is 0.',
      '13:20 error max-request-bytes: "big" is not a size | Write one such as 10MiB or 512KiB.',
      '14:30 error skip-websocket-verification: "maybe" is neither true nor false | ',
      '15:17 error epoch-duration: "1ms" is too small | The minimum is 1s.',
      '16:16 error drain-timeout: "2h" is too large | The maximum is 1h.',
      '17:28 error max-sessions-per-provider: "1e3" is not a whole number | Write one from 1 to 1000000.',
      '18:26 error liveness-probe-interval: "5" has no unit | Write one such as 500ms, 5s or 1m30s.',
      '19:18 error use-static-spec: "https://a:b@c/" cannot be a spec source | Write a file, a directory or a URL without a user name and password in it. A port is 1 to 65535.',
      '20:12 error log-level: "trace" is not one of the allowed values | Allowed: debug, info, warn, error.',
      '22:1 error upstream-failure-threshold: is a map; expected a single value | ',
      '23:1 error health-check-interval: is a list; expected a single value | ',
      '24:10 error strategy: has no value | ',
    ],
  },
]

test('the minimal config has no problems', () => {
  expect(problemsOf(minimal)).toEqual([])
})

test.each(yamlCases)('as YAML: $problems', ({ text, problems }) => {
  expect(problemsOf(text)).toEqual(problems)
})

test.each(configCases)('as a config: $problems', ({ text, environment = {}, problems }) => {
  expect(problemsOf(text, environment)).toEqual(problems)
})
