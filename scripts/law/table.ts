// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The law of imports as data. The same table stands in `docs/architecture.md`, and a test compares
 * the two.
 */

const base = ['config', 'json'] as const

/** Folders of `proxy/`, each with the folders of `proxy/` that it may import beside itself. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  config: [],
  clock: [],
  json: [],
  chain: base,
  upstream: [...base, 'chain', 'clock'],
  relay: [...base, 'chain', 'clock', 'upstream'],
  subscription: [...base, 'chain', 'clock', 'upstream', 'relay'],
  listener: [...base, 'chain', 'clock', 'upstream', 'relay', 'subscription'],
  telemetry: ['config', 'chain', 'clock', 'upstream', 'relay', 'subscription', 'listener'],
  cli: [...base, 'chain', 'clock', 'upstream', 'relay', 'subscription', 'listener', 'telemetry'],
  'main.ts': ['cli'],
}

/** Packages and built-in modules that are known in few places, by patterns below `proxy/`. */
export const knownOnlyTo: Readonly<Record<string, readonly string[]>> = {
  'node:http': [
    'listener/http-server.ts',
    'listener/node-exchange.ts',
    'listener/websocket-server.ts',
  ],
  'node:https': [],
  undici: ['upstream/*-transport.ts'],
  ws: ['upstream/websocket-connection.ts', 'listener/websocket-server.ts'],
  fastify: ['telemetry/**'],
  pino: ['telemetry/**'],
  'prom-client': ['telemetry/**'],
  yaml: ['config/**', 'chain/**'],
  zod: ['config/**', 'chain/**'],
}

/** What a folder of `proxy/` may import from elsewhere; a folder that is not here has no such limit. */
export const packagesOf: Readonly<Record<string, readonly string[]>> = {
  config: ['zod', 'yaml', 'node:util', 'node:net'],
}

/** Folders that get their time and their chance from outside. */
export const deterministicFolders = ['relay', 'upstream', 'subscription'] as const

/** Folders and files that may read the environment of the process. */
export const readsEnvironment = ['main.ts', 'cli'] as const

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

/** Lines of a source file, tests and generated files apart. */
export const fileSizeBudget = { median: 120, p90: 300, most: 400 } as const
