// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { loadBundledSpecs } from '../../proxy/chain/load-catalog.ts'
import { loadSpecs, validateLoaded } from '../../proxy/router/checked-config.ts'
import { parseConfig } from '../../proxy/config/parse.ts'
import { apiVersion } from '../api/group.ts'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { upstreamProviderSchema } from '../api/upstream-provider.ts'
import { secretData } from './reference-data.ts'
import { translate } from './translate.ts'
import { violationText } from './translation.ts'

/*
 * Pairs each config error of the router with the operator's refusal of the same fault. Every line
 * that reports an error needs a row here; a test counts them. A port in use is not a config error.
 */

type Row = {
  /** File that reports the error. */
  readonly of: string
  /** The router's message for the smallest valid file with these keys merged in. */
  readonly says: RegExp
  readonly file: object
} & (
  | {
      /** The same fault in the operator's objects, merged into the smallest router and provider. */
      readonly router?: object
      readonly provider?: object
      readonly more?: readonly object[]
      /** The operator's message, if it differs. */
      readonly operatorSays?: RegExp
    }
  /** Why the operator cannot render such a config. */
  | { readonly never: string }
)

const eth = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' }
const upstream = (node: object = {}, more: object = {}) => ({
  ...{ name: 'a', ...eth, 'node-urls': [{ url: 'https://a.example', ...node }] },
  ...more,
})
const grpc = { 'chain-id': 'HUBCHAIN', 'api-interface': 'grpc' }
const policy = (more: object = {}, method = 'eth_getBalance') => ({
  'cross-validation': { policies: [{ ...eth, method, ...more }] },
})
const kubePolicy = (more: object = {}, method = 'eth_getBalance') => ({
  crossValidation: {
    policies: [{ chainId: 'ETH1', apiInterface: 'jsonrpc', method, ...more }],
  },
})
const store = (more: object) => ({
  'resp-cache': { addresses: 'r:6379', ...more },
  'shared-state': true,
})
const external = (more: object) => ({
  sharedState: { mode: 'External', external: { addresses: ['r:6379'], ...more } },
})
const cachePolicy = (more: object) => ({ 'cache-bytes': '1MiB', cache: { policies: [more] } })
const secretRef = { secretKeyRef: { name: 's', key: 'k' } }
const ownCache = 'An RpcRouter has no cache policies.'

const rows: readonly Row[] = [
  {
    of: 'config/parse.ts',
    says: /no effect beside endpoints/,
    file: { 'network-address': ':1' },
    never: 'It writes the addresses of endpoints.',
  },
  {
    of: 'config/checks/checks.ts',
    says: /port 0 would be a different port for each worker/,
    file: { workers: 2, endpoints: [{ ...eth, 'network-address': ':0' }] },
    never: 'A port of an endpoint is at least 1.',
  },
  {
    of: 'config/checks/checks.ts',
    says: /"eth_\*" is in allowed-methods too/,
    file: {
      'direct-rpc': [upstream({}, { 'allowed-methods': ['eth_*'], 'denied-methods': ['eth_*'] })],
    },
    provider: { allowedMethods: ['eth_*'], deniedMethods: ['eth_*'] },
  },
  {
    of: 'config/checks/checks.ts',
    says: /two names of one key/,
    file: { endpoints: [{ ...eth, 'network-address': ':1', 'listen-address': ':2' }] },
    never: 'It writes only network-address.',
  },
  {
    of: 'config/checks/checks.ts',
    says: /a wss URL cannot serve rest/,
    file: {
      'direct-rpc': [
        upstream({ url: 'wss://a.example' }, { 'api-interface': 'rest', 'chain-id': 'HUBCHAIN' }),
      ],
    },
    router: { endpoints: [{ name: 'e', chainId: 'HUBCHAIN', apiInterface: 'rest' }] },
    provider: { chainId: 'HUBCHAIN', apiInterface: 'rest', nodeUrls: [{ url: 'wss://a.example' }] },
  },
  {
    of: 'config/checks/checks.ts',
    says: /node-urls\[0\]\.url: gRPC has no query parameters/,
    file: { 'direct-rpc': [upstream({ url: 'grpcs://a.example:443?key=1' }, grpc)] },
    router: { endpoints: [{ name: 'e', chainId: 'HUBCHAIN', apiInterface: 'grpc' }] },
    provider: {
      chainId: 'HUBCHAIN',
      apiInterface: 'grpc',
      nodeUrls: [{ url: 'grpcs://a.example:443?key=1' }],
    },
    operatorSays: /nodeUrls\[0\]\.url: gRPC has no query parameters/,
  },
  {
    of: 'config/checks/checks.ts',
    says: /auth-query: gRPC has no query parameters/,
    file: {
      'direct-rpc': [
        upstream({ url: 'grpcs://a.example:443', 'auth-config': { 'auth-query': 'k=1' } }, grpc),
      ],
    },
    router: { endpoints: [{ name: 'e', chainId: 'HUBCHAIN', apiInterface: 'grpc' }] },
    provider: {
      ...{ chainId: 'HUBCHAIN', apiInterface: 'grpc' },
      nodeUrls: [{ url: 'grpcs://a.example:443', auth: { query: [{ name: 'k', value: '1' }] } }],
    },
    operatorSays: /auth\.query.*gRPC has no query parameters/,
  },
  {
    of: 'config/checks/checks.ts',
    says: /the URL has a user and a password/,
    file: {
      'direct-rpc': [
        upstream({
          url: 'https://u:p@a.example',
          'auth-config': { 'auth-headers': { Authorization: 'x' } },
        }),
      ],
    },
    provider: {
      nodeUrls: [
        {
          url: 'https://u:p@a.example',
          auth: { headers: [{ name: 'Authorization', value: 'x' }] },
        },
      ],
    },
  },
  {
    of: 'config/checks/checks.ts',
    says: /TLS is configured for a URL whose scheme, http, has none/,
    file: { 'direct-rpc': [upstream({ url: 'http://a.example', 'auth-config': { tls: {} } })] },
    provider: {
      nodeUrls: [{ url: 'http://a.example', auth: { tls: { serverName: 'a.example' } } }],
    },
  },
  {
    of: 'config/checks/checks.ts',
    says: /there is no store to share answers in/,
    file: { 'cache-bytes': '1MiB', cache: { shared: true } },
    never: 'It writes cache.shared true only beside a store.',
  },
  {
    of: 'config/checks/checks.ts',
    says: /resp-cache has no effect/,
    file: { 'cache-bytes': '1MiB', 'cache-be': 'c:1', 'resp-cache': { addresses: 'r:1' } },
    never: 'It writes only stores in use.',
  },
  {
    of: 'config/checks/checks.ts',
    says: /collides with/,
    file: { endpoints: [{ ...eth }, { ...eth, 'network-address': '127.0.0.1:3360' }] },
    router: {
      endpoints: [
        { name: 'a', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
        { name: 'b', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
      ],
    },
  },
  {
    of: 'config/checks/checks.ts',
    says: /an upstream named "a" serves ETH1 jsonrpc already/,
    file: { 'direct-rpc': [upstream(), upstream({ url: 'https://b.example' })] },
    provider: { upstreamName: 'same' },
    more: [{ upstreamName: 'same', nodeUrls: [{ url: 'https://b.example' }] }],
    operatorSays: /already has the name same for ETH1 jsonrpc/,
  },
  {
    of: 'config/checks/checks.ts',
    says: /no upstream of direct-rpc serves HOODI jsonrpc/,
    file: { endpoints: [{ ...eth, 'chain-id': 'HOODI' }] },
    router: { endpoints: [{ name: 'e', chainId: 'HOODI', apiInterface: 'jsonrpc' }] },
    operatorSays: /no UpstreamProvider .* serves HOODI jsonrpc/,
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /No chain spec has the id "ETH2"/,
    file: { endpoints: [{ ...eth, 'chain-id': 'ETH2' }] },
    router: { endpoints: [{ name: 'e', chainId: 'ETH2', apiInterface: 'jsonrpc' }] },
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /ETH1 is not served through rest/,
    file: { endpoints: [{ ...eth, 'api-interface': 'rest' }] },
    router: { endpoints: [{ name: 'e', chainId: 'ETH1', apiInterface: 'rest' }] },
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /ETH1 has no add-on "archiv" on jsonrpc/,
    file: { 'direct-rpc': [upstream({ addons: ['archiv'] })] },
    provider: { nodeUrls: [{ url: 'https://a.example', addons: ['archiv'] }] },
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /cap 2 is below floor 3/,
    file: policy({ 'agreement-threshold': { floor: 3, cap: 2 } }),
    router: kubePolicy({ agreementThreshold: { floor: 3, cap: 2 } }),
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /3 answers must match, but max-participants allows at most 2/,
    file: policy({ 'agreement-threshold': 3, 'max-participants': { cap: 2 } }),
    router: kubePolicy({ agreementThreshold: { floor: 3 }, maxParticipants: { cap: 2 } }),
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /2 groups of 2 are needed, but max-participants/,
    file: policy({ 'min-groups': 2, 'per-group-quorum': 2, 'max-participants': { cap: 3 } }),
    router: kubePolicy({ minGroups: { floor: 2 }, perGroupQuorum: 2, maxParticipants: { cap: 3 } }),
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /with one-vote-per-group a group has no more than 1 answer/,
    file: policy({ 'one-vote-per-group': true, 'per-group-quorum': 2 }),
    router: kubePolicy({ oneVotePerGroup: true, perGroupQuorum: 2 }),
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /there is a policy for ETH1 jsonrpc eth_getBalance already/,
    file: {
      'cross-validation': {
        policies: [eth, { ...eth, 'chain-id': 'ETH' }].map((each) => ({
          ...{ ...each, method: 'eth_getBalance', 'forbid-caller-cv': true },
        })),
      },
    },
    router: {
      crossValidation: {
        policies: ['ETH1', 'ETH'].map((chainId) => ({
          ...{ chainId, apiInterface: 'jsonrpc', method: 'eth_getBalance', forbidCallers: true },
        })),
      },
    },
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /the floor is 2, and ETH1 jsonrpc has 1 upstream/,
    file: policy({ 'agreement-threshold': 2 }),
    router: kubePolicy({ agreementThreshold: { floor: 2 } }),
  },
  {
    of: 'config/checks/check-chains.ts',
    says: /2 groups are needed, and ETH1 jsonrpc has 1/,
    file: policy({ 'min-groups': 2 }),
    router: kubePolicy({ minGroups: { floor: 2 } }),
  },
  {
    of: 'config/store.ts',
    says: /password and password-file exclude each other/,
    file: store({ password: 'x', 'password-file': '/dev/null' }),
    never: 'It writes passwords only as variables.',
  },
  {
    of: 'config/store.ts',
    says: /username needs password or password-file/,
    file: store({ username: 'x' }),
    router: external({ username: { name: 's', key: 'user' } }),
  },
  {
    of: 'config/store.ts',
    says: /topology standalone has one address/,
    file: store({ addresses: ['r:1', 'r:2'] }),
    router: external({ addresses: ['r:1', 'r:2'] }),
  },
  {
    of: 'config/store.ts',
    says: /a cluster has no database but 0/,
    file: store({ topology: 'cluster', db: 1 }),
    router: external({ topology: 'cluster', db: 1 }),
  },
  {
    of: 'config/store.ts',
    says: /master-name is for topology sentinel alone/,
    file: store({ 'master-name': 'm' }),
    router: external({ masterName: 'm' }),
  },
  {
    of: 'config/store.ts',
    says: /the address is listed twice/,
    file: store({ topology: 'cluster', addresses: ['r:1', 'r:1'] }),
    router: external({ topology: 'cluster', addresses: ['r:1', 'r:1'] }),
  },
  {
    of: 'config/tls-section.ts',
    says: /cert-file needs key-file beside it/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { tls: { 'cert-file': '/dev/null' } } })] },
    never: 'It writes both from one clientCertificate.',
  },
  {
    of: 'config/checks/socket-check.ts',
    says: /ETH1 jsonrpc has subscriptions, and none of its upstreams \((?:a|p0)\) has a WebSocket URL/,
    file: { 'skip-websocket-verification': false },
    router: { skipWebsocketVerification: false },
  },
  {
    of: 'chain/check-methods.ts',
    says: /names no method "eth_getBalanec"/,
    file: policy({ 'forbid-caller-cv': true }, 'eth_getBalanec'),
    router: kubePolicy({ forbidCallers: true }, 'eth_getBalanec'),
  },
  {
    of: 'chain/check-methods.ts',
    says: /eth_sendRawTransaction cannot be cross-validated/,
    file: policy({ 'forbid-caller-cv': true }, 'eth_sendRawTransaction'),
    router: kubePolicy({ forbidCallers: true }, 'eth_sendRawTransaction'),
  },
  {
    of: 'chain/check-methods.ts',
    says: /\/cosmos\/.* is an alias of \/sdk\//,
    file: {
      endpoints: [{ 'chain-id': 'HUBCHAIN', 'api-interface': 'rest' }],
      'direct-rpc': [upstream({}, { 'chain-id': 'HUBCHAIN', 'api-interface': 'rest' })],
      'cross-validation': {
        policies: [
          {
            ...{ 'chain-id': 'HUBCHAIN', 'api-interface': 'rest', 'forbid-caller-cv': true },
            method: '/cosmos/bank/v1beta1/supply',
          },
        ],
      },
    },
    router: {
      endpoints: [{ name: 'e', chainId: 'HUBCHAIN', apiInterface: 'rest' }],
      crossValidation: {
        policies: [
          {
            ...{ chainId: 'HUBCHAIN', apiInterface: 'rest', forbidCallers: true },
            method: '/cosmos/bank/v1beta1/supply',
          },
        ],
      },
    },
    provider: { chainId: 'HUBCHAIN', apiInterface: 'rest' },
  },
  {
    of: 'chain/check-methods.ts',
    says: /no listener of endpoints serves HOODI/,
    file: cachePolicy({ method: 'eth_call', 'chain-id': 'HOODI', ttl: '1s' }),
    never: ownCache,
  },
  {
    of: 'chain/check-methods.ts',
    says: /eth_sendRawTransaction is never cached/,
    file: cachePolicy({ method: 'eth_sendRawTransaction', ttl: '1s' }),
    never: ownCache,
  },
  {
    of: 'chain/check-methods.ts',
    says: /no listener serves a method "eth_cal"/,
    file: cachePolicy({ method: 'eth_cal', ttl: '1s' }),
    never: ownCache,
  },
  {
    of: 'config/fields/field.ts',
    says: /node-urls\[0\]\.url: the value is a URL without a scheme/,
    file: { 'direct-rpc': [upstream({ url: 'nowhere' })] },
    provider: {
      nodeUrls: [{ url: '${URL}' }],
      variables: [{ name: 'URL', valueFrom: { secretKeyRef: { name: 's', key: 'nowhere' } } }],
    },
    operatorSays: /spec\.nodeUrls\[0\]\.url: the value is a URL without a scheme/,
  },
  {
    of: 'config/fields/upstream-auth.ts',
    says: /auth-query: a parameter is repeated/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { 'auth-query': 'k=1&k=2' } })] },
    never: 'It writes parameters as a map.',
  },
  {
    of: 'config/fields/upstream-auth.ts',
    says: /auth-headers\.Connection: the header "Connection" belongs to the connection/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { 'auth-headers': { Connection: 'h' } } })] },
    provider: {
      nodeUrls: [
        { url: 'https://a.example', auth: { headers: [{ name: 'Connection', value: 'h' }] } },
      ],
    },
    operatorSays: /auth\.headers.*Connection/,
  },
  {
    of: 'config/fields/upstream-auth.ts',
    says: /auth-headers\.x-key: the value holds a placeholder that was not replaced: YOUR_KEY/,
    file: {
      'direct-rpc': [upstream({ 'auth-config': { 'auth-headers': { 'x-key': 'YOUR_KEY' } } })],
    },
    provider: {
      nodeUrls: [
        { url: 'https://a.example', auth: { headers: [{ name: 'x-key', value: 'YOUR_KEY' }] } },
      ],
    },
    operatorSays: /auth\.headers.*the value holds a placeholder that was not replaced/,
  },
  {
    of: 'config/fields/upstream-auth.ts',
    says: /auth-headers\.x-key: has no value/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { 'auth-headers': { 'x-key': null } } })] },
    never: 'It writes a value for each header.',
  },
  {
    of: 'config/fields/upstream-auth.ts',
    says: /auth-headers\.x-key: the value has a line break in it/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { 'auth-headers': { 'x-key': 'a\nb' } } })] },
    provider: {
      nodeUrls: [
        {
          url: 'https://a.example',
          auth: {
            headers: [{ name: 'x-key', valueFrom: { secretKeyRef: { name: 's', key: 'lines' } } }],
          },
        },
      ],
    },
    operatorSays: /auth\.headers.*x-key: the value has a line break in it/,
  },
  {
    of: 'validation/validate-config.ts',
    says: /\/no\/such\.pem cannot be read/,
    file: { 'direct-rpc': [upstream({ 'auth-config': { tls: { 'ca-file': '/no/such.pem' } } })] },
    never:
      'Its files are mounted: a missing Secret or ConfigMap is SecretNotFound or ConfigMapNotFound.',
  },
  {
    of: 'validation/validate-config.ts',
    says: /holds no certificates in PEM form/,
    file: {
      'direct-rpc': [upstream({ 'auth-config': { tls: { 'ca-file': import.meta.filename } } })],
    },
    provider: { nodeUrls: [{ url: 'https://a.example', auth: { tls: { ca: { ...secretRef } } } }] },
  },
]

/** Files whose errors no rendered config can cause. */
const impossible: Readonly<Record<string, string>> = {
  'config/yaml/read-yaml.ts': 'Syntax errors. The operator writes its configs with a YAML library.',
  'config/live-keys.ts': 'Errors of a reload. The operator replaces pods for such a change.',
}

/** Files that create problems without `report`, and where the operator covers them, or why not. */
const others: Readonly<Record<string, string>> = {
  'config/problem.ts': 'Creates the problems of `report`, which have rows.',
  'config/explain.ts':
    'Unknown keys and missing values: the operator runs the same parser on its own text.',
  'config/yaml/read-yaml.ts': 'The same parser.',
  'config/env-file.ts':
    'Errors of the machine. Pods have a directory with one file per variable, without syntax.',
  'router/checked-config.ts':
    'Errors of the machine: unreadable config and env files. Kubernetes mounts those of pods.',
  'cli/command-line.ts': 'Errors of the command line. The operator writes that of pods.',
  'cli/config-source.ts': 'Errors of the command line.',
  'cli/find-chain.ts': 'Errors of the command line. The operator names the chain.',
  'cli/main.ts': 'Errors of the command line.',
  'cli/record.ts': 'Errors of the command line. Pods record nothing.',
  'cli/replay.ts': 'Another command.',
  'cli/init.ts': 'Another command.',
  'cli/admin-clients.ts': 'Another command.',
  'cli/cache-server.ts': 'Another command.',
  'chain/document.ts': 'Errors of specs: spec-sources.test.ts compares both messages.',
  'chain/read-documents.ts': 'Errors of specs.',
  'chain/load-catalog.ts': 'Errors of specs.',
  'chain/sources.ts': 'Errors of the machine and of URLs, which the operator cannot check.',
}

const bundled = await loadBundledSpecs()
const specs = await loadSpecs([])
const minimal = {
  endpoints: [eth],
  'direct-rpc': [upstream()],
  'skip-websocket-verification': true,
}

async function routerErrors(file: object): Promise<string> {
  const text = JSON.stringify({ ...minimal, ...file })
  const { problems } = validateLoaded({
    ...specs,
    parsed: parseConfig(text, { environment: {}, flags: {} }),
  })
  const errors = problems.filter(({ severity }) => severity === 'error')
  return errors.map(({ path, message }) => `${path}: ${message}`).join('\n')
}

/** Returns the operator's errors, without the rules of the CustomResourceDefinitions. */
function operatorErrors(router: object, providers: readonly object[]): string {
  const object = (kind: string, name: string) => ({
    ...{ apiVersion, kind },
    metadata: { name, namespace: 'ns', uid: name, generation: 1 },
  })
  const endpoints = [{ name: 'e', chainId: 'ETH1', apiInterface: 'jsonrpc' }]
  const provider = {
    ...{ chainId: 'ETH1', apiInterface: 'jsonrpc' },
    nodeUrls: [{ url: 'https://a.example' }],
  }
  const { refusals, providers: found } = translate({
    router: rpcRouterSchema.parse({
      ...object('RpcRouter', 'r'),
      spec: { endpoints, providerSelector: {}, ...router },
    }),
    providers: providers.map((each, index) =>
      upstreamProviderSchema.parse({
        ...object('UpstreamProvider', `p${index}`),
        spec: { ...provider, ...each },
      }),
    ),
    data: {
      secret: () =>
        secretData({ stringData: { k: 'no PEM', user: 'u', nowhere: 'nowhere', lines: 'a\nb' } }),
      configMap: () => null,
    },
    bundled,
  })
  return [...refusals, ...found.flatMap((each) => each.refusals)].map(violationText).join('\n')
}

test('neither refuses the smallest valid config', async () => {
  expect([await routerErrors({}), operatorErrors({}, [{}])]).toEqual(['', ''])
})

describe('the operator refuses what the router would refuse at its start', () => {
  test.each(rows)('$of: $says', async (row) => {
    expect(await routerErrors(row.file)).toMatch(row.says)
    if ('never' in row) return
    const { router = {}, provider = {}, more = [], operatorSays = row.says } = row
    expect(operatorErrors(router, [provider, ...more])).toMatch(operatorSays)
  })
})

/** Returns the lines of a file that report an error. */
function errorReports(path: string): readonly number[] {
  const text = readFileSync(path, 'utf8')
  const lines: number[] = []
  const visitor = new Visitor({
    CallExpression({ callee, arguments: values, start }) {
      if (callee.type !== 'Identifier' || callee.name !== 'report') return
      const isWarning = values.some(
        (value) => value.type === 'Literal' && value.value === 'warning',
      )
      if (!isWarning) lines.push(text.slice(0, start).split('\n').length)
    },
  })
  visitor.visit(parseSync(path, text).program)
  return lines
}

test('each source line that reports an error has a row', () => {
  const root = join(import.meta.dirname, '../../proxy')
  const files = globSync('{config,chain,validation}/**/*.ts', { cwd: root })
  const sources = files.filter((file) => !file.includes('.test.') && !(file in impossible))
  const counts = (all: readonly string[]) =>
    Object.fromEntries(
      [...Map.groupBy(all, (file) => file)].map(([file, same]) => [file, same.length]),
    )
  const reported = sources.flatMap((file) => errorReports(join(root, file)).map(() => file))
  expect(counts(rows.map(({ of }) => of).toSorted())).toEqual(counts(reported.toSorted()))
})

test('each file that creates problems without report is listed', () => {
  const root = join(import.meta.dirname, '../../proxy')
  const makers = globSync('**/*.ts', { cwd: root })
    .filter((file) => !file.includes('.test.'))
    .filter((file) => /\b(?:problemAt|fileProblem)\(/.test(readFileSync(join(root, file), 'utf8')))
  expect(Object.keys(others).toSorted()).toEqual(makers.toSorted())
})
