// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The law of imports as data. `docs/architecture.md` has the same table; a test compares the two.
 */

const base = ['config', 'json'] as const

/**
 * Folders of `proxy/` by their name, and those of `operator/` by their path, each with the folders that it
 * may import beside itself.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  config: [],
  clock: [],
  bytes: [],
  json: ['bytes'],
  chain: base,
  integrity: [...base, 'chain'],
  upstream: [...base, 'chain', 'clock', 'bytes'],
  relay: [...base, 'chain', 'clock', 'bytes', 'upstream', 'integrity'],
  filters: ['json', 'chain', 'upstream', 'relay'],
  cache: [
    ...base,
    'chain',
    'clock',
    'bytes',
    'upstream',
    'integrity',
    'relay',
    'redis',
    'cache-server',
  ],
  redis: ['config', 'clock'],
  'cache-server': ['config', 'clock', 'redis'],
  sticky: [...base, 'chain', 'clock', 'upstream', 'relay', 'redis', 'cache-server'],
  consistency: ['config', 'chain', 'clock', 'upstream', 'relay'],
  'cross-validation': [...base, 'chain', 'clock', 'bytes', 'upstream', 'relay'],
  subscription: [...base, 'chain', 'clock', 'bytes', 'upstream', 'integrity', 'relay'],
  listener: [...base, 'chain', 'clock', 'bytes', 'upstream', 'integrity', 'relay', 'subscription'],
  telemetry: [
    'config',
    'chain',
    'clock',
    'bytes',
    'upstream',
    'integrity',
    'relay',
    'subscription',
    'cross-validation',
    'listener',
  ],
  cli: [
    ...base,
    'chain',
    'clock',
    'bytes',
    'integrity',
    'upstream',
    'relay',
    'filters',
    'cache',
    'redis',
    'cache-server',
    'sticky',
    'consistency',
    'cross-validation',
    'subscription',
    'listener',
    'telemetry',
  ],
  'main.ts': ['cli'],
  'operator/kube': ['clock'],
  'operator/api': ['config', 'operator/kube'],
  'operator/translate': ['config', 'operator/kube', 'operator/api'],
  'operator/resources': ['operator/kube', 'operator/api', 'operator/translate'],
  'operator/status': ['operator/kube', 'operator/api', 'operator/translate', 'operator/resources'],
  'operator/manifests': [
    'config',
    'operator/kube',
    'operator/api',
    'operator/translate',
    'operator/resources',
  ],
  'operator/controllers': [
    'config',
    'operator/kube',
    'operator/api',
    'operator/translate',
    'operator/resources',
    'operator/status',
  ],
  'operator/rbac': ['operator/kube', 'operator/api'],
  'operator/cli': [
    'config',
    'operator/kube',
    'operator/api',
    'operator/translate',
    'operator/manifests',
    'operator/resources',
    'operator/status',
    'operator/controllers',
    'operator/rbac',
  ],
  'operator/main.ts': ['operator/cli'],
}

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
  undici: ['proxy/upstream/wire/http/http-transport.ts', 'operator/kube/transport.ts'],
  'node:http2': [
    'proxy/listener/grpc/http2-*.ts',
    'proxy/upstream/wire/grpc/http2-*.ts',
    'proxy/upstream/wire/grpc/grpc-transport.ts',
  ],
  ws: ['proxy/upstream/wire/ws/ws-connection.ts', 'proxy/listener/websocket/*.ts'],
  ioredis: ['proxy/redis/redis.ts'],
  '@grpc/grpc-js': ['proxy/cache-server/**'],
  '@grpc/proto-loader': ['proxy/cache-server/wire.ts'],
  '@kubernetes/client-node': ['operator/kube/cluster.ts'],
  '@marcbachmann/cel-js': ['operator/manifests/cel.ts'],
  'lru-cache': ['proxy/cache/memory-store.ts', 'proxy/cache-server/shelf.ts'],
  fastify: ['proxy/telemetry/**'],
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
    'operator/api/**',
    'operator/controllers/world.ts',
    'operator/status/fleet-view.ts',
    'operator/manifests/**',
  ],
}

/** Where the types of such a package may be used: they do not exist at run time. */
export const typesFreeTo: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['operator/**'],
}

/** Packages that a folder may import; a folder that is not listed has no such limit. */
export const packagesOf: Readonly<Record<string, readonly string[]>> = {
  config: ['zod', 'yaml', 'node:util', 'node:net', 'node:crypto', 'node:tls'],
}

/** Folders that receive their clock and random numbers from their callers. */
export const deterministicFolders = [
  'integrity',
  'relay',
  'filters',
  'cache',
  'redis',
  'cache-server',
  'sticky',
  'consistency',
  'cross-validation',
  'upstream',
  'subscription',
  'operator/kube',
  'operator/api',
  'operator/translate',
  'operator/manifests',
  'operator/resources',
  'operator/status',
  'operator/controllers',
  'operator/rbac',
] as const

/** Folders and files that may read the environment of the process. */
export const readsEnvironment = ['main.ts', 'cli', 'operator/main.ts', 'operator/cli'] as const

/** Names that say nothing about what is inside. */
export const emptyNames = [
  'utils',
  'util',
  'common',
  'helpers',
  'helper',
  'manager',
  'service',
  'misc',
]

/** Files named after a Kubernetes kind that they build. */
export const namedAfterKinds = ['operator/resources/service.ts']

/** Lines of a source file, without tests and generated files. */
export const fileSizeBudget = { median: 120, p90: 300, most: 400 } as const
