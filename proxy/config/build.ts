// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockList } from 'node:net'
import { buildPolicy } from './cross-validation.ts'
import type { Tier } from './entries.ts'
import {
  type CachePolicyEntry,
  type ConfigFile,
  type NodeUrlEntry,
  type UpstreamEntry,
  defaultAddress,
} from './schema.ts'
import { addressesOverlap } from './fields/address.ts'
import { addressesOf } from './fields/address-range.ts'
import type { Secret } from './secret.ts'
import type { SettingName, SettingValue } from './settings.ts'
import { buildStore } from './store.ts'

/* Maps the program's names to the file's settings, which `settings.ts` describes. */

export const relaySettings = {
  strategy: 'strategy',
  retryLimit: 'set-relay-retry-limit',
  maxAttempts: 'max-relay-attempts',
  processingTimeoutMs: 'default-processing-timeout',
  minRelayTimeoutMs: 'min-relay-timeout',
  integrity: 'integrity',
  retryMissingBlocks: 'retry-missing-blocks',
} as const

const socketSettings = {
  maxMessageBytes: 'websocket-max-message-bytes',
  maxCalls: 'websocket-max-calls',
  maxSubscriptions: 'websocket-max-subscriptions',
  maxBufferedBytes: 'websocket-max-buffered-bytes',
  idleTimeoutMs: 'websocket-idle-timeout',
} as const

const grpcSettings = {
  maxStreams: 'max-calls-per-connection',
  idleTimeoutMs: 'grpc-idle-timeout',
} as const

const subscriptionSettings = {
  maxGapBlocks: 'subscription-max-gap-blocks',
  stallBlocks: 'subscription-stall-blocks',
  maxTopics: 'subscription-max-topics',
} as const

const processSettings = {
  workers: 'workers',
  adminPage: 'admin-page',
  skipWebsocketVerification: 'skip-websocket-verification',
  enableSelectionStats: 'enable-selection-stats',
  maxSessionsPerUpstream: 'max-sessions-per-provider',
  upstreamFailureThreshold: 'upstream-failure-threshold',
  epochDurationMs: 'epoch-duration',
  sharedState: 'shared-state',
  healthCheckIntervalMs: 'health-check-interval',
  livenessProbeIntervalMs: 'liveness-probe-interval',
  maxRequestBytes: 'max-request-bytes',
  maxBufferedBytes: 'max-buffered-bytes',
  drainTimeoutMs: 'drain-timeout',
  logLevel: 'log-level',
  logFormat: 'log-format',
  accessLog: 'access-log',
} as const

/** Setting values; null when disabled. */
export type ValuesOf<Names extends Readonly<Record<string, SettingName>>> = {
  readonly [Key in keyof Names]: SettingValue<Names[Key]>
}

/** Relay settings of one listener: those at the top, overridden by those of its endpoint. */
export type RelayConfig = ValuesOf<typeof relaySettings>
/** Limits of one client WebSocket. */
export type SocketLimits = ValuesOf<typeof socketSettings> & { readonly maxCalls: number }
/** How to find the address of a client. */
export interface ClientsConfig {
  /** Proxies whose header names the client; null: none. */
  readonly trustedProxies: BlockList | null
  /** In lower case. */
  readonly addressHeader: string
}
/** Limits of one client gRPC connection. */
export type GrpcLimits = ValuesOf<typeof grpcSettings>
/** Limits of subscription recovery and topics. */
export type SubscriptionConfig = ValuesOf<typeof subscriptionSettings>
/** Listeners, upstreams, and process-wide settings. */
export type RouterConfig = ReturnType<typeof buildRouterConfig>
export type EndpointConfig = ReturnType<typeof buildEndpoint>
/** Cache lifetime for the answers to matching calls. */
export type CachePolicy = ReturnType<typeof buildCachePolicy>
/** One upstream: one node, or several URLs treated as one. */
export type UpstreamConfig = ReturnType<typeof buildUpstream>
export type NodeUrlConfig = ReturnType<typeof buildNodeUrl>

/** Builds the program's config from a file that passed every check. */
export function buildRouterConfig(file: ConfigFile) {
  const grpc = valuesOf(grpcSettings, file)
  const ofAnswers = file.cache?.['resp-cache']
  const endpoints = file.endpoints.map((endpoint) => buildEndpoint(endpoint, file))
  const admin = file['metrics-listen-address'] ?? null
  const isOurs = endpoints.some(({ address }) => admin && addressesOverlap(address, admin))
  return {
    endpoints,
    upstreams: [
      ...file['direct-rpc'].map((upstream) => buildUpstream(upstream, 'primary')),
      ...(file['backup-direct-rpc'] ?? []).map((upstream) => buildUpstream(upstream, 'backup')),
    ],
    /** Which queries for logs to compare with a second upstream. */
    verifyLogs: file.logs?.verify ?? 'sample',
    /** Enabled cross-validation policies. */
    policies: (file['cross-validation']?.policies ?? [])
      .filter(({ enabled = true }) => enabled)
      .map(buildPolicy),
    /** Files, directories or URLs of chain specs; later ones win. Empty: use the bundled specs. */
    specSources: file['use-static-spec'] ?? [],
    /** Origins allowed to send browser requests; null: any. */
    allowedOrigins: file['allowed-origins'] ? new Set(file['allowed-origins']) : null,
    /** Host names that browsers may use to reach the admin address. */
    adminHosts: file['admin-hosts'] ?? [],
    sockets: {
      ...valuesOf(socketSettings, file),
      maxCalls: file['websocket-max-calls'] ?? grpc.maxStreams,
    },
    clients: {
      trustedProxies: file['trusted-proxies'] ? addressesOf(file['trusted-proxies']) : null,
      addressHeader: (file['client-address-header'] ?? 'x-forwarded-for').toLowerCase(),
    },
    grpc,
    /** Cache service shared by replicas; null: none. */
    cacheServer: file['cache-be'] ?? null,
    /** Redis shared by replicas; null: none. */
    store: file['resp-cache'] ? buildStore(file['resp-cache']) : null,
    subscriptions: valuesOf(subscriptionSettings, file),
    cache: {
      maxBytes: file['cache-bytes'] ?? 0,
      /** Separate Redis for cached answers; null: they use the cache service or the Redis above. */
      store: ofAnswers ? buildStore(ofAnswers) : null,
      /** Whether to share answers. Default: not beside sessions, which fail once Redis is full. */
      isShared:
        file.cache?.shared ??
        !(file['resp-cache'] && file['shared-state'] && !ofAnswers && !file['cache-be']),
      policies: (file.cache?.policies ?? []).map(buildCachePolicy),
    },
    ...valuesOf(processSettings, file),
    metricsListenAddress: admin?.isOptional && isOurs ? null : admin,
  }
}

function valuesOf<Names extends Readonly<Record<string, SettingName>>>(
  names: Names,
  file: Readonly<Record<string, unknown>>,
): ValuesOf<Names> {
  const values = Object.entries(names).map(([key, name]) => [key, file[name] ?? null] as const)
  return Object.fromEntries(values) as ValuesOf<Names>
}

function buildEndpoint(endpoint: ConfigFile['endpoints'][number], file: ConfigFile) {
  const { relay: own, 'network-address': address = endpoint['listen-address'] } = endpoint
  return {
    address: address ?? defaultAddress,
    chainId: endpoint['chain-id'],
    apiInterface: endpoint['api-interface'],
    methods: methodLists(endpoint),
    relay: valuesOf(relaySettings, { ...file, ...own }),
  }
}

/** Null without lists. */
function methodLists(entry: Pick<UpstreamEntry, 'allowed-methods' | 'denied-methods'>) {
  const { 'allowed-methods': allowed = null, 'denied-methods': denied = [] } = entry
  return allowed === null && denied.length === 0 ? null : { allowed, denied }
}

function buildCachePolicy(entry: CachePolicyEntry) {
  return {
    /** Null matches every chain. The same holds for the keys below. */
    chainId: entry['chain-id'] ?? null,
    apiInterface: entry['api-interface'] ?? null,
    /** `*` matches any text. */
    method: entry.method,
    pattern: new RegExp(`^${entry.method.split('*').map(RegExp.escape).join('.*')}$`),
    ageClass: entry.class ?? null,
    /** Null: never cached. */
    ttlMs: entry.ttl,
  }
}

function buildUpstream(upstream: UpstreamEntry, tier: Tier) {
  const methods = methodLists(upstream)
  return {
    name: upstream.name,
    tier,
    /** Upstreams in one group may share a vendor. Upstreams without a label form one group. */
    ...(upstream['group-label'] && { group: upstream['group-label'] }),
    chainId: upstream['chain-id'],
    apiInterface: upstream['api-interface'],
    ...(methods && { methods }),
    nodeUrls: upstream['node-urls'].map(buildNodeUrl),
  }
}

/** Limits of one URL; null: none. */
export interface FixedLimits {
  readonly perSecond: number | null
  readonly perDay: number | null
  readonly concurrent: number | null
}

function buildLimits(entry: NonNullable<NodeUrlEntry['limits']>): FixedLimits {
  return {
    perSecond: entry['per-second'] ?? null,
    perDay: entry['per-day'] ?? null,
    concurrent: entry.concurrent ?? null,
  }
}

/** A batch size that most nodes accept. */
const defaultMaxBatch = 100

function buildNodeUrl(entry: NodeUrlEntry) {
  const { url, scheme, basicAuth } = entry.url
  const auth = entry['auth-config'] ?? {}
  const authHeaders = new Map<string, Secret>()
  for (const [name, value] of auth['auth-headers'] ?? []) authHeaders.set(name.toLowerCase(), value)
  if (basicAuth !== null) authHeaders.set('authorization', basicAuth)
  return {
    /** The full URL with its keys. It prints as its origin, as written in the file. */
    url,
    scheme,
    /** Replaces the computed timeout of an attempt. */
    timeoutMs: entry.timeout ?? null,
    /** Batch items per request, for JSON-RPC over HTTP; 1 sends them singly. */
    maxBatch: scheme.startsWith('http') ? (entry['max-batch'] ?? defaultMaxBatch) : 1,
    /** Null without limits in the file. */
    limits: entry.limits ? buildLimits(entry.limits) : null,
    /** Blocks in one request for logs; null: learned. */
    maxLogBlocks: entry['max-log-blocks'] ?? null,
    /** Whether to request gzip answers. */
    compression: entry.compression ?? scheme === 'https',
    /** Whether calls to this URL carry their trace context. */
    traceContext: entry['trace-context'] ?? false,
    /** Add-ons and extensions that this URL serves: `debug`, `trace`, `archive`, `bundler`, ... */
    addons: [...new Set(entry.addons)],
    /** Start-up verifications to skip; `*` for all. */
    skipVerifications: entry['skip-verifications'] ?? [],
    authHeaders,
    /** Prepended to the query string of every request. */
    authQuery: auth['auth-query'] ?? new Map<string, Secret>(),
    /** Paths of PEM files, as written in the file. */
    tls: auth.tls ?? null,
  }
}
