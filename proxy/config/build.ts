// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import type { Settings } from './resolve.ts'
import type { Secret } from './secret.ts'
import { type ConfigFile, defaultPort } from './schema.ts'
import type {
  EndpointConfig,
  NodeUrlConfig,
  RelayConfig,
  RouterConfig,
  Tier,
  TlsConfig,
  UpstreamConfig,
} from './types.ts'
import type { tlsSchema, upstreamSchema } from './upstream-schema.ts'

/** Makes what the program works with out of a file that passed every check. */
export function buildRouterConfig(file: ConfigFile, settings: Settings): RouterConfig {
  const relay: RelayConfig = {
    strategy: settings.get('strategy'),
    retryLimit: settings.get('set-relay-retry-limit'),
    maxAttempts: settings.get('max-relay-attempts'),
    processingTimeoutMs: settings.get('default-processing-timeout'),
    minRelayTimeoutMs: settings.get('min-relay-timeout'),
    integrity: settings.get('integrity'),
    retryMissingBlocks: settings.get('retry-missing-blocks'),
  }
  return {
    endpoints: file.endpoints.map((endpoint) => buildEndpoint(endpoint, relay)),
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

function buildEndpoint(
  endpoint: ConfigFile['endpoints'][number],
  shared: RelayConfig,
): EndpointConfig {
  const own = endpoint.relay ?? {}
  return {
    address: endpoint['network-address'] ??
      endpoint['listen-address'] ?? { host: '0.0.0.0', port: defaultPort },
    chainId: endpoint['chain-id'],
    apiInterface: endpoint['api-interface'],
    relay: {
      strategy: own.strategy ?? shared.strategy,
      retryLimit: own['set-relay-retry-limit'] ?? shared.retryLimit,
      maxAttempts: own['max-relay-attempts'] ?? shared.maxAttempts,
      processingTimeoutMs: own['default-processing-timeout'] ?? shared.processingTimeoutMs,
      minRelayTimeoutMs: own['min-relay-timeout'] ?? shared.minRelayTimeoutMs,
      integrity: own.integrity ?? shared.integrity,
      retryMissingBlocks: own['retry-missing-blocks'] ?? shared.retryMissingBlocks,
    },
  }
}

type UpstreamEntry = z.output<typeof upstreamSchema>

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

function buildNodeUrl(entry: UpstreamEntry['node-urls'][number]): NodeUrlConfig {
  const { url, scheme, basicAuth } = entry.url
  const auth = entry['auth-config'] ?? {}
  const headers = new Map<string, Secret>(auth['auth-headers'] ?? [])
  if (basicAuth !== null) headers.set('authorization', basicAuth)
  return {
    url,
    scheme,
    timeoutMs: entry.timeout ?? null,
    addons: [...new Set((entry.addons ?? []).map((addon) => addon.toLowerCase()))],
    skipVerifications: entry['skip-verifications'] ?? [],
    authHeaders: headers,
    authQuery: auth['auth-query'] ?? new Map(),
    tls: auth.tls === undefined ? null : buildTls(auth.tls),
  }
}

function buildTls(tls: z.output<typeof tlsSchema>): TlsConfig {
  return {
    caFile: tls['ca-file'] ?? null,
    certFile: tls['cert-file'] ?? null,
    keyFile: tls['key-file'] ?? null,
    serverName: tls['server-name'] ?? null,
    insecureSkipVerify: tls['insecure-skip-verify'] ?? false,
  }
}

/** What must never be printed of a config: the values of headers and queries, keys in URLs. */
export function secretsOf(file: ConfigFile): readonly string[] {
  const upstreams = [...file['direct-rpc'], ...(file['backup-direct-rpc'] ?? [])]
  return upstreams.flatMap((upstream) =>
    upstream['node-urls']
      .map(buildNodeUrl)
      .flatMap(({ url, authHeaders, authQuery }) =>
        [url, ...authHeaders.values(), ...authQuery.values()].flatMap((secret) => secret.parts()),
      ),
  )
}
