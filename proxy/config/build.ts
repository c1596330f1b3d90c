// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Entries } from './entries.ts'
import type { Partly } from './partial.ts'
import type { Settings } from './resolve.ts'
import type { Secret } from './secret.ts'
import { type ConfigFile, type NodeUrlEntry, type TlsEntry, type UpstreamEntry } from './schema.ts'
import { defaultAddress } from './schema.ts'
import type { relaying, SettingValue } from './settings.ts'
import type {
  EndpointConfig,
  NodeUrlConfig,
  RelayConfig,
  RouterConfig,
  Tier,
  TlsConfig,
  UpstreamConfig,
} from './types.ts'

/** Makes what the program works with out of a file that passed every check. */
export function buildRouterConfig(file: ConfigFile, settings: Settings): RouterConfig {
  return {
    endpoints: file.endpoints.map((endpoint) => buildEndpoint(endpoint, settings)),
    upstreams: [
      ...file['direct-rpc'].map((upstream) => buildUpstream(upstream, 'primary')),
      ...(file['backup-direct-rpc'] ?? []).map((upstream) => buildUpstream(upstream, 'backup')),
    ],
    metricsListenAddress: settings.get('metrics-listen-address'),
    specSources: settings.list('use-static-spec'),
    skipWebsocketVerification: settings.get('skip-websocket-verification'),
    enableSelectionStats: settings.get('enable-selection-stats'),
    maxSessionsPerUpstream: settings.get('max-sessions-per-provider'),
    upstreamFailureThreshold: settings.get('upstream-failure-threshold'),
    epochDurationMs: settings.get('epoch-duration'),
    healthCheckIntervalMs: settings.get('health-check-interval'),
    livenessProbeIntervalMs: settings.get('liveness-probe-interval'),
    maxRequestBytes: settings.get('max-request-bytes'),
    sockets: {
      maxMessageBytes: settings.get('websocket-max-message-bytes'),
      maxCalls: settings.get('websocket-max-calls'),
      maxSubscriptions: settings.get('websocket-max-subscriptions'),
      maxBufferedBytes: settings.get('websocket-max-buffered-bytes'),
      idleTimeoutMs: settings.get('websocket-idle-timeout'),
    },
    subscriptions: {
      maxGapBlocks: settings.get('subscription-max-gap-blocks'),
      stallBlocks: settings.get('subscription-stall-blocks'),
    },
    drainTimeoutMs: settings.get('drain-timeout'),
  }
}

type RelaySetting = keyof typeof relaying

function relayOf(get: <N extends RelaySetting>(name: N) => SettingValue<N>): RelayConfig {
  return {
    strategy: get('strategy'),
    retryLimit: get('set-relay-retry-limit'),
    maxAttempts: get('max-relay-attempts'),
    processingTimeoutMs: get('default-processing-timeout'),
    minRelayTimeoutMs: get('min-relay-timeout'),
    integrity: get('integrity'),
    retryMissingBlocks: get('retry-missing-blocks'),
  }
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
    relay: relayOf(
      <N extends RelaySetting>(name: N) =>
        (own?.[name] as SettingValue<N> | undefined) ?? settings.get(name),
    ),
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
    tls: auth.tls === undefined ? null : buildTls(auth.tls),
  }
}

function buildTls(tls: Partly<TlsEntry>): TlsConfig {
  return {
    caFile: tls['ca-file'] ?? null,
    certFile: tls['cert-file'] ?? null,
    keyFile: tls['key-file'] ?? null,
    serverName: tls['server-name'] ?? null,
    insecureSkipVerify: tls['insecure-skip-verify'] ?? false,
  }
}

/** A `tls` section of an upstream's URL, and where it stands. */
export interface TlsSection {
  readonly path: string
  readonly tls: TlsConfig
}

/** The `tls` sections of a file that may have mistakes elsewhere. */
export function tlsSectionsOf({ upstreams }: Entries): readonly TlsSection[] {
  return upstreams.flatMap(({ urls }) =>
    urls.flatMap(({ entry, path }) => {
      const tls = entry['auth-config']?.tls
      return tls === undefined ? [] : [{ path: `${path}.auth-config.tls`, tls: buildTls(tls) }]
    }),
  )
}

/** The secrets of a file that may have mistakes elsewhere: headers and queries, and URLs for the keys in them. */
export function secretsOf({ upstreams }: Entries): readonly Secret[] {
  return upstreams.flatMap(({ urls }) =>
    urls.flatMap(({ entry: { url, 'auth-config': auth } }) => [
      ...(url === undefined ? [] : [url.url, ...(url.basicAuth === null ? [] : [url.basicAuth])]),
      ...(auth?.['auth-headers']?.values() ?? []),
      ...(auth?.['auth-query']?.values() ?? []),
    ]),
  )
}
