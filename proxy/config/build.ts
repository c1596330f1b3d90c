// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { tlsOf } from './entries.ts'
import type { Settings } from './resolve.ts'
import type { Secret } from './secret.ts'
import { type ConfigFile, type NodeUrlEntry, type UpstreamEntry } from './schema.ts'
import { defaultAddress } from './schema.ts'
import type { settingGroups, SettingName } from './settings.ts'
import type { EndpointConfig, NodeUrlConfig, RouterConfig, Tier, UpstreamConfig } from './types.ts'
import { processSettings, relaySettings, socketSettings, subscriptionSettings } from './types.ts'
import type { ValuesOf } from './types.ts'

type RelaySetting = keyof (typeof settingGroups)['Relaying']

/** Makes what the program works with out of a file that passed every check. */
export function buildRouterConfig(file: ConfigFile, settings: Settings): RouterConfig {
  const get = (name: SettingName) => settings.get(name)
  return {
    endpoints: file.endpoints.map((endpoint) => buildEndpoint(endpoint, settings)),
    upstreams: [
      ...file['direct-rpc'].map((upstream) => buildUpstream(upstream, 'primary')),
      ...(file['backup-direct-rpc'] ?? []).map((upstream) => buildUpstream(upstream, 'backup')),
    ],
    specSources: settings.list('use-static-spec'),
    sockets: valuesOf(socketSettings, get),
    subscriptions: valuesOf(subscriptionSettings, get),
    ...valuesOf(processSettings, get),
  }
}

function valuesOf<Names extends Readonly<Record<string, SettingName>>>(
  names: Names,
  get: (name: SettingName) => unknown,
): ValuesOf<Names> {
  const values = Object.entries(names).map(([key, name]) => [key, get(name)] as const)
  return Object.fromEntries(values) as ValuesOf<Names>
}

function buildEndpoint(
  endpoint: ConfigFile['endpoints'][number],
  settings: Settings,
): EndpointConfig {
  const { relay: own, 'network-address': address = endpoint['listen-address'] } = endpoint
  return {
    address: address ?? defaultAddress,
    chainId: endpoint['chain-id'],
    apiInterface: endpoint['api-interface'],
    relay: valuesOf(relaySettings, (name) => own?.[name as RelaySetting] ?? settings.get(name)),
  }
}

function buildUpstream(upstream: UpstreamEntry, tier: Tier): UpstreamConfig {
  return {
    name: upstream.name,
    tier,
    chainId: upstream['chain-id'],
    apiInterface: upstream['api-interface'],
    groupLabel: upstream['group-label'] ?? null,
    nodeUrls: upstream['node-urls'].map(buildNodeUrl),
  }
}

/** What common nodes take at least. */
const defaultMaxBatch = 100

function buildNodeUrl(entry: NodeUrlEntry): NodeUrlConfig {
  const { url, scheme, basicAuth } = entry.url
  const auth = entry['auth-config'] ?? {}
  const headers = new Map<string, Secret>()
  for (const [name, value] of auth['auth-headers'] ?? []) headers.set(name.toLowerCase(), value)
  if (basicAuth !== null) headers.set('authorization', basicAuth)
  return {
    url,
    scheme,
    timeoutMs: entry.timeout ?? null,
    // Only a request over HTTP is known to be answered as a whole.
    maxBatch: scheme.startsWith('http') ? (entry['max-batch'] ?? defaultMaxBatch) : 1,
    addons: [...new Set(entry.addons)],
    skipVerifications: entry['skip-verifications'] ?? [],
    ...(entry.compression === undefined ? {} : { compression: entry.compression }),
    authHeaders: headers,
    authQuery: auth['auth-query'] ?? new Map(),
    tls: auth.tls === undefined ? null : tlsOf(auth.tls),
  }
}
