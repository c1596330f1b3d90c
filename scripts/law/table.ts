// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The law of imports as data. A test compares it with the table in `docs/architecture.md`.
 */

const words = (text: string): readonly string[] => text.split(' ')
const engine = words('config json chain clock bytes tracker upstream')
const api = words('config operator/kube operator/api')
const objects = words('operator/kube operator/api operator/translate operator/resources')

/**
 * Folders of `proxy/` by name, and of `operator/` by path, each with the other folders that it may
 * import. All may import `words`.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  words: [],
  config: [],
  clock: [],
  bytes: [],
  json: ['bytes'],
  chain: words('config json'),
  integrity: words('config json chain bytes'),
  tracker: words('chain clock'),
  upstream: words('config json chain clock bytes tracker'),
  relay: [...engine, 'integrity'],
  filters: words('json chain bytes upstream relay'),
  store: words('config clock bytes'),
  cache: [...engine, ...words('integrity relay store')],
  logs: [...engine, ...words('integrity relay store cache')],
  sticky: words('config json chain clock bytes upstream relay store'),
  'cross-validation': [...engine, 'relay'],
  subscription: [...engine, ...words('integrity relay')],
  validation: words('config chain subscription'),
  listener: [...engine, ...words('integrity relay subscription')],
  telemetry: words(
    'config chain clock bytes upstream integrity relay subscription cross-validation listener',
  ),
  console: words('clock upstream telemetry'),
  router: [
    'words',
    ...engine,
    ...words('integrity relay filters cache logs store sticky'),
    ...words('cross-validation subscription listener console telemetry validation'),
  ],
  workers: words('clock config cache store listener console telemetry router'),
  cli: [
    ...engine,
    ...words('relay store listener console telemetry subscription validation router workers'),
  ],
  'main.ts': ['cli'],
  'operator/kube': ['clock'],
  'operator/api': words('config operator/kube'),
  'operator/translate': [...api, ...words('chain validation')],
  'operator/resources': words('operator/kube operator/api operator/translate'),
  'operator/status': objects,
  'operator/manifests': [...api, ...words('operator/translate operator/resources')],
  'operator/cache': [...objects, 'operator/status'],
  'operator/apply': [...objects, ...words('operator/status operator/cache')],
  'operator/controllers': [...objects, ...words('operator/status operator/cache operator/apply')],
  'operator/rbac': words('operator/kube operator/api'),
  'operator/cli': [
    ...api,
    ...words('chain cli'),
    ...words('operator/translate operator/manifests operator/resources operator/status'),
    ...words('operator/controllers operator/rbac'),
  ],
  'operator/main.ts': ['operator/cli'],
}

/** Packages that load only when tracing is enabled. */
const openTelemetry = words('api core resources sdk-node sdk-trace').map(
  (name) => [`@opentelemetry/${name}`, ['proxy/telemetry/otel/**']] as const,
)

/** Packages and built-in modules that only a few files may import, by patterns. */
export const knownOnlyTo: Readonly<Record<string, readonly string[]>> = {
  'node:http': [
    'proxy/listener/http/http-server.ts',
    'proxy/listener/http/http-exchange.ts',
    'proxy/listener/websocket/websocket-server.ts',
    'operator/cli/admin-server.ts',
    'operator/kube/page.ts',
  ],
  'node:https': [],
  undici: [
    'proxy/upstream/wire/http/http-transport.ts',
    'proxy/workers/one-view.ts',
    'operator/kube/transport.ts',
  ],
  'node:http2': [
    'proxy/listener/grpc/http2-*.ts',
    'proxy/upstream/wire/grpc/http2-*.ts',
    'proxy/upstream/wire/grpc/grpc-transport.ts',
  ],
  ws: ['proxy/upstream/wire/ws/ws-connection.ts', 'proxy/listener/websocket/*.ts'],
  ioredis: ['proxy/store/redis/redis.ts'],
  '@grpc/grpc-js': ['proxy/store/grpc/**'],
  '@grpc/proto-loader': ['proxy/store/grpc/wire.ts'],
  '@kubernetes/client-node': ['operator/kube/cluster.ts'],
  '@ethereumjs/mpt': ['proxy/integrity/receipts-root.ts'],
  'lru-cache': [
    'proxy/cache/memory-store.ts',
    'proxy/logs/slices.ts',
    'proxy/store/grpc/cache-store.ts',
    'proxy/workers/peer-answers.ts',
  ],
  ...Object.fromEntries(openTelemetry),
  fastify: ['proxy/telemetry/**'],
  ink: ['proxy/console/screen.ts'],
  '@clack/prompts': ['proxy/cli/ask.ts'],
  react: ['proxy/console/screen.ts'],
  pino: ['proxy/telemetry/**', 'operator/cli/**'],
  'prom-client': ['proxy/telemetry/**', 'operator/cli/**'],
  yaml: [
    'proxy/config/**',
    'proxy/chain/**',
    'operator/api/crd/kube-yaml.ts',
    'operator/translate/**',
    'operator/manifests/**',
    'operator/cli/**',
  ],
  zod: [
    'proxy/config/**',
    'proxy/chain/**',
    // Other programs may have written these bytes.
    'proxy/cache/entry-codec.ts',
    'proxy/telemetry/record/recording.ts',
    'operator/api/**',
    'operator/cache/cluster-cache.ts',
    'operator/status/fleet-view.ts',
    'operator/manifests/**',
  ],
}

/** Files that may import types of such a package, which do not exist at run time. */
export const typesFreeTo: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['operator/**'],
}

/** Packages that a folder may import. An unlisted folder has no such limit. */
export const packagesOf: Readonly<Record<string, readonly string[]>> = {
  config: ['zod', 'yaml', 'node:util', 'node:net', 'node:crypto', 'node:tls'],
}

/** Folders whose callers inject the clock and random numbers. */
export const deterministicFolders = [
  ...words('integrity relay filters cache logs store sticky tracker cross-validation'),
  ...words('upstream subscription operator/kube operator/api operator/translate'),
  ...words('operator/manifests operator/resources operator/status operator/cache'),
  ...words('operator/apply operator/controllers operator/rbac'),
]

/** Folders and files that may read the environment of the process. */
export const readsEnvironment = words('main.ts cli operator/main.ts operator/cli')

/** Files named after a Kubernetes kind that they build. */
export const namedAfterKinds = ['operator/resources/service.ts']

/** Limits of lines per source file, without tests and generated files. */
export const fileSizeBudget = { median: 120, p90: 300, most: 400 } as const
