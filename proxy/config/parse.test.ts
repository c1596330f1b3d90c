// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { minimal, parse, problemsOf } from './config-text.fixture.ts'
import type { FlagValues } from './settings.ts'
import type { NodeUrlConfig, RouterConfig } from './types.ts'

function configOf(
  text: string,
  environment: Readonly<Record<string, string>> = {},
  flags: FlagValues = {},
): RouterConfig {
  const { config, problems } = parse(text, environment, flags)
  if (config === null) throw new Error(problems.map((problem) => problem.message).join('; '))
  return config
}

function nodeUrlOf(
  entry: string,
  environment: Readonly<Record<string, string>> = {},
): NodeUrlConfig {
  const text = minimal.replace('https://one.example.com/v1', entry)
  const nodeUrl = configOf(text, environment).upstreams[0]?.nodeUrls[0]
  if (nodeUrl === undefined) throw new Error('no URL')
  return nodeUrl
}

test('fills in every default', () => {
  expect(configOf(minimal)).toMatchObject({
    endpoints: [
      {
        address: { host: '127.0.0.1', port: 3360 },
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        relay: {
          strategy: 'balanced',
          retryLimit: 2,
          maxAttempts: 10,
          processingTimeoutMs: 30_000,
          minRelayTimeoutMs: 1000,
        },
      },
    ],
    upstreams: [{ name: 'one', tier: 'primary' }],
    metricsListenAddress: { host: '127.0.0.1', port: 7779, isOptional: true },
    specSources: [],
    allowedOrigins: null,
    skipWebsocketVerification: false,
    enableSelectionStats: false,
    maxSessionsPerUpstream: 1000,
    upstreamFailureThreshold: 5,
    epochDurationMs: 900_000,
    healthCheckIntervalMs: 300_000,
    livenessProbeIntervalMs: null,
    maxRequestBytes: 10_485_760,
    drainTimeoutMs: 25_000,
  })
})

test('a listener without an address uses port 3360 on all interfaces', () => {
  const text = minimal.replace('network-address: 127.0.0.1:3360\n    ', '')
  expect(configOf(text).endpoints[0]?.address).toEqual({ host: '0.0.0.0', port: 3360 })
})

test('listen-address is an alias of network-address', () => {
  const text = minimal.replace('network-address: 127.0.0.1:3360', 'listen-address: 3377')
  expect(configOf(text).endpoints[0]?.address).toEqual({ host: '0.0.0.0', port: 3377 })
})

test('a listener overrides the top-level settings', () => {
  const relay = 'api-interface: jsonrpc\n    relay: {strategy: latency, set-relay-retry-limit: 0}'
  const text = `${minimal.replace('api-interface: jsonrpc', relay)}max-relay-attempts: 4\n`
  expect(configOf(text, {}, { strategy: ['round-robin'] }).endpoints[0]?.relay).toMatchObject({
    strategy: 'latency',
    retryLimit: 0,
    maxAttempts: 4,
  })
})

test('names and values that look like YAML numbers stay as written', () => {
  const text = minimal
    .replace('name: one', 'name: 1e3')
    .replace('ETH1', '0123')
    .replace('ETH1', '0123')
  expect(configOf(text).upstreams[0]).toMatchObject({ name: '1e3', chainId: '0123' })
  const { authHeaders } = nodeUrlOf(
    'http://x\n        auth-config: {auth-headers: {X-Key: 0123, Y: true}}',
  )
  expect([...authHeaders].map(([name, value]) => [name, value.reveal()])).toEqual([
    ['x-key', '0123'],
    ['y', 'true'],
  ])
})

test("a URL's user and password become a header, and it prints as its origin", () => {
  const { url, authHeaders } = nodeUrlOf('https://me:p%40ss@${HOST}:8545/v2/K3Y?a=b', {
    HOST: 'h.example',
  })
  expect(url.reveal()).toBe('https://h.example:8545/v2/K3Y?a=b')
  expect(String(url)).toBe('https://${HOST}:8545')
  expect(authHeaders.get('authorization')?.reveal()).toBe(
    `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
  )
})

test.each([
  ['https://host/v2/K3Y?a=b', 'https://host'],
  ['https://me:KEY@host:1/', 'https://host:1'],
  ['${URL}', '${URL}'],
  ['${URL}/v2/K3Y', '${URL}'],
  ['$<URL>?k=K3Y', '$<URL>'],
  ['https://${URL2}@host/', 'https://host'],
])('the URL %s prints as %s', (written, printed) => {
  const environment = { URL: 'https://secret.example', URL2: 'user:SECRET' }
  expect(String(nodeUrlOf(written, environment).url)).toBe(printed)
})

test('query parameters may be a map or a text', () => {
  for (const query of ['{a: 1, b: x y}', 'a=1&b=x%20y']) {
    const { authQuery } = nodeUrlOf(`http://x\n        auth-config: {auth-query: ${query}}`)
    expect([...authQuery].map(([name, value]) => [name, value.reveal()])).toEqual([
      ['a', '1'],
      ['b', 'x y'],
    ])
  }
})

test('a WebSocket URL may accompany another URL', () => {
  const text = minimal.replace('https://one.example.com/v1', 'ws://x\n      - url: http://y')
  expect(configOf(text).upstreams[0]?.nodeUrls.map(({ scheme }) => scheme)).toEqual(['ws', 'http'])
})

test('anchors and aliases are resolved', () => {
  const text = minimal
    .replace('chain-id: ETH1', 'chain-id: &chain ETH1')
    .replace('one\n    chain-id: ETH1', 'one\n    chain-id: *chain')
  expect(configOf(text).upstreams[0]?.chainId).toBe('ETH1')
})

test.each([
  ['a byte order mark', `\uFEFF${minimal}`],
  ['CRLF', minimal.replaceAll('\n', '\r\n')],
  ['a document marker', `---\n${minimal}`],
  ['a closing marker', `${minimal}...\n`],
  [
    'JSON',
    JSON.stringify({
      endpoints: [{ 'chain-id': 'A', 'api-interface': 'jsonrpc' }],
      'direct-rpc': [
        {
          name: 'n',
          'chain-id': 'A',
          'api-interface': 'jsonrpc',
          'node-urls': [{ url: 'http://x' }],
        },
      ],
    }),
  ],
  [
    'port 0 twice',
    minimal
      .replace('127.0.0.1:3360', ':0')
      .replace(
        'direct-rpc:',
        '  - {network-address: ":0", chain-id: ETH1, api-interface: jsonrpc}\ndirect-rpc:',
      ),
  ],
])('takes %s', (_, text) => {
  expect(problemsOf(text)).toEqual([])
})

test("a placeholder's value is not parsed as YAML", () => {
  const headers = 'http://x\n        auth-config: {auth-headers: {X: "${V}", Y: $<V>}}'
  const value = 'a: {b: [c'
  expect([...nodeUrlOf(headers, { V: value }).authHeaders.values()].map((v) => v.reveal())).toEqual(
    [value, value],
  )
})

test('placeholders also set numbers, switches, durations and ports', () => {
  const text = `${minimal.replace('3360', '${PORT}')}max-relay-attempts: \${N}\nskip-websocket-verification: $<B>\ndrain-timeout: \${D}s\n`
  const environment = { PORT: '3399', N: '7', B: 'true', D: '3' }
  expect(configOf(text, environment)).toMatchObject({
    endpoints: [{ address: { port: 3399 }, relay: { maxAttempts: 7 } }],
    skipWebsocketVerification: true,
    drainTimeoutMs: 3000,
  })
})

describe('a flag overrides the environment, which overrides the file, which overrides the default', () => {
  const text = `${minimal}use-static-spec: [file-a, file-b]\nlog-level: error\n`
  test.each([
    ['default', minimal, {}, {}, 'info', []],
    ['file', text, {}, {}, 'error', ['file-a', 'file-b']],
    ['environment', text, { SR_LOG_LEVEL: 'warn', SR_SPEC: 'env' }, {}, 'warn', ['env']],
    ['empty environment', text, { SR_LOG_LEVEL: '' }, {}, 'error', ['file-a', 'file-b']],
    [
      'flag',
      text,
      { SR_LOG_LEVEL: 'warn', SR_SPEC: 'env' },
      { 'log-level': ['debug'], 'use-static-spec': ['x', 'y'] },
      'debug',
      ['x', 'y'],
    ],
  ] as const)('%s', (_, file, environment, flags, level, specs) => {
    const parsed = parse(file, environment, flags)
    expect(parsed.config?.logLevel).toBe(level)
    expect(parsed.config?.specSources).toEqual(specs)
  })
})

test('off and on in a flag override what the file says', () => {
  const text = `${minimal}metrics-listen-address: :7779\n`
  expect(configOf(text).metricsListenAddress).toEqual({ host: '0.0.0.0', port: 7779 })
  const flags = { 'metrics-listen-address': ['off'], 'liveness-probe-interval': ['on'] }
  expect(configOf(text, {}, flags)).toMatchObject({
    metricsListenAddress: null,
    livenessProbeIntervalMs: 5000,
  })
})

test('errors in flags and variables name them', () => {
  const flags = { 'epoch-duration': ['5'], 'shared-state': ['yes'], 'cache-be': [':1'] }
  expect(problemsOf(minimal, { SR_LOG_LEVEL: 'loud' }, flags)).toEqual([
    '-:- error --epoch-duration: "5" has no unit | Write one such as 500ms, 5s or 1m30s.',
    '-:- error --cache-be: ":1" has no host to connect to | Write host:port, such as store.example.com:20100.',
    '-:- error --shared-state: "yes" is neither true nor false | ',
    '-:- error SR_LOG_LEVEL: "loud" is not one of the allowed values | Allowed: debug, info, warn, error.',
  ])
})

test('paths of the file can be located', () => {
  const parsed = parse(minimal)
  expect(parsed.locate('endpoints[0].chain-id')).toEqual({ line: 3, column: 15 })
  expect(parsed.locate('endpoints[0]')).toEqual({ line: 2, column: 5 })
  expect(parsed.locate('direct-rpc')).toEqual({ line: 5, column: 1 })
  expect(parsed.locate('nowhere')).toBeNull()
})

test.each([
  ['', true],
  ['shared-state: true\n', false],
  ['shared-state: true\ncache: {shared: true}\n', true],
  ['cache: {shared: false}\n', false],
  ['shared-state: true\ncache: {resp-cache: {addresses: other}}\n', true],
  ['shared-state: true\ncache-be: cache\ncache-bytes: 1MiB\n', true],
])('answers share the store unless sessions do, or as the config says: %j', (more, isShared) => {
  const config = configOf(`${minimal}resp-cache: {addresses: redis}\n${more}`, {})
  expect(config.cache.isShared).toBe(isShared)
})

test.each([
  ['', true],
  ['shared-state: true\n', true],
  ['cache: {shared: false}\n', false],
])('answers are shared in a cache service as the config says: %j', (more, isShared) => {
  const config = configOf(`${minimal}cache-be: cache\ncache-bytes: 1MiB\n${more}`, {})
  expect(config.cacheServer).toEqual({ host: 'cache', port: 20_100 })
  expect(config.cache.isShared).toBe(isShared)
})

test('a store has defaults, and its password is not printed', () => {
  const text = `${minimal}resp-cache: {addresses: redis, username: u, password: "pass-\${P}"}\n`
  const config = configOf(text, { P: 'word' })
  expect(config.store).toMatchObject({
    topology: 'standalone',
    addresses: [{ host: 'redis', port: 6379 }],
    masterName: 'mymaster',
    passwordFile: null,
    db: 0,
    keyPrefix: 'rpc-router:',
    tls: null,
  })
  expect(config.store?.password?.reveal()).toBe('pass-word')
  expect(JSON.stringify(config)).not.toContain('pass-')
})
