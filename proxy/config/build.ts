// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Secret } from './secret.ts'
import { type ConfigFile, type NodeUrlEntry, type UpstreamEntry } from './schema.ts'
import { defaultAddress } from './schema.ts'
import type { SettingName } from './settings.ts'
import type { EndpointConfig, NodeUrlConfig, RouterConfig, Tier, UpstreamConfig } from './types.ts'
import { processSettings, relaySettings, socketSettings, subscriptionSettings } from './types.ts'
import type { ValuesOf } from './types.ts'

/** Builds the config of the program from a file that passed every check. */
export function buildRouterConfig(file: ConfigFile): RouterConfig {
  return {
    endpoints: file.endpoints.map((endpoint) => buildEndpoint(endpoint, file)),
    upstreams: [
      ...file['direct-rpc'].map((upstream) => buildUpstream(upstream, 'primary')),
      ...(file['backup-direct-rpc'] ?? []).map((upstream) => buildUpstream(upstream, 'backup')),
    ],
    specSources: file['use-static-spec'] ?? [],
    allowedOrigins: file['allowed-origins'] ? new Set(file['allowed-origins']) : null,
    sockets: valuesOf(socketSettings, file),
    subscriptions: valuesOf(subscriptionSettings, file),
    ...valuesOf(processSettings, file),
  }
}

function valuesOf<Names extends Readonly<Record<string, SettingName>>>(
  names: Names,
  file: Readonly<Record<string, unknown>>,
): ValuesOf<Names> {
  const values = Object.entries(names).map(([key, name]) => [key, file[name] ?? null] as const)
  return Object.fromEntries(values) as ValuesOf<Names>
}

function buildEndpoint(
  endpoint: ConfigFile['endpoints'][number],
  file: ConfigFile,
): EndpointConfig {
  const { relay: own, 'network-address': address = endpoint['listen-address'] } = endpoint
  return {
    address: address ?? defaultAddress,
    chainId: endpoint['chain-id'],
    apiInterface: endpoint['api-interface'],
    relay: valuesOf(relaySettings, { ...file, ...own }),
  }
}

function buildUpstream(upstream: UpstreamEntry, tier: Tier): UpstreamConfig {
  return {
    name: upstream.name,
    tier,
    chainId: upstream['chain-id'],
    apiInterface: upstream['api-interface'],
    nodeUrls: upstream['node-urls'].map(buildNodeUrl),
  }
}

/** The size that common nodes accept at least. */
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
    tls: auth.tls ?? null,
  }
}
