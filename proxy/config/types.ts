// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Secret } from './secret.ts'

/*
 * What the program works with after a config file was read, checked, rendered and merged with the
 * flags: every default filled in, every duration in milliseconds. The shape of the YAML itself is
 * in `schema.ts`.
 */

export const apiInterfaces = ['jsonrpc', 'rest', 'tendermintrpc', 'grpc'] as const
export type ApiInterface = (typeof apiInterfaces)[number]

export const strategies = [
  'balanced',
  'latency',
  'sync-freshness',
  'availability',
  'round-robin',
] as const
export type Strategy = (typeof strategies)[number]

export const integrityLevels = ['off', 'envelope', 'core', 'full'] as const
export type IntegrityLevel = (typeof integrityLevels)[number]

export const tiers = ['primary', 'backup'] as const
export type Tier = (typeof tiers)[number]

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

/** Where something listens. `host` is an IPv4, an IPv6 without brackets, a name, or `0.0.0.0`. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** How one listener relays. Set for all listeners at the top, overridable per endpoint. */
export interface RelayConfig {
  readonly strategy: Strategy
  /** Retries after the first attempt. 0: no retry and no hedge. */
  readonly retryLimit: number
  /** Attempts of all kinds for one call. */
  readonly maxAttempts: number
  /** The whole time one call may take. */
  readonly processingTimeoutMs: number
  /** The least per-attempt time that the router itself chooses. */
  readonly minRelayTimeoutMs: number
  /** How much of an answer is checked. */
  readonly integrity: IntegrityLevel
  /** Null for a block that the tip says exists is a failed attempt, and not an answer. */
  readonly retryMissingBlocks: boolean
}

/** A listener: one chain through one interface. */
export interface EndpointConfig {
  readonly address: Address
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly relay: RelayConfig
}

/** What a TLS upstream needs. Paths of PEM files. */
export interface TlsConfig {
  readonly caFile: string | null
  readonly certFile: string | null
  readonly keyFile: string | null
  readonly serverName: string | null
  readonly insecureSkipVerify: boolean
}

/** One URL of an upstream. */
export interface NodeUrlConfig {
  /** The whole URL with its keys; its printable form is the origin, as written in the file. */
  readonly url: Secret
  readonly scheme: 'http' | 'https' | 'ws' | 'wss' | 'grpc' | 'grpcs'
  /** Replaces the per-attempt time that the router would compute. */
  readonly timeoutMs: number | null
  /** JSON-RPC by HTTP: items of a batch that may go to it in one request; 1: singly. */
  readonly maxBatch: number
  /** Answers are asked for in gzip; absent: of https URLs. */
  readonly compression?: boolean
  /** Add-ons and extensions that this URL serves: `debug`, `trace`, `archive`, `bundler`, ... */
  readonly addons: readonly string[]
  /** Names of start-up verifications to leave out; `*` for all. */
  readonly skipVerifications: readonly string[]
  readonly authHeaders: ReadonlyMap<string, Secret>
  /** Added to the query string of every request. */
  readonly authQuery: ReadonlyMap<string, Secret>
  readonly tls: TlsConfig | null
}

/** An upstream: one provider's node, or several URLs that stand for one. */
export interface UpstreamConfig {
  readonly name: string
  readonly tier: Tier
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly groupLabel: string | null
  readonly nodeUrls: readonly NodeUrlConfig[]
}

/** What one WebSocket of a client may cost. */
export interface SocketLimits {
  /** Of one message of the client. */
  readonly maxMessageBytes: number
  /** Calls at once; more wait, and the socket is not read meanwhile. */
  readonly maxCalls: number
  readonly maxSubscriptions: number
  /** Answers and notifications that wait to be taken; with more the client is closed. */
  readonly maxBufferedBytes: number
  /** Without a call in flight or a subscription; null: for ever. */
  readonly idleTimeoutMs: number | null
}

/** How subscriptions are kept whole. */
export interface SubscriptionConfig {
  /** More missed blocks than this end a subscription. */
  readonly maxGapBlocks: number
  /** A source without news for so many block times is looked after. */
  readonly stallBlocks: number
}

/** Settings of the process, beside its listeners and upstreams. */
export interface RouterConfig {
  readonly endpoints: readonly EndpointConfig[]
  readonly upstreams: readonly UpstreamConfig[]
  /** Null: no metrics and no health endpoint is served. */
  readonly metricsListenAddress: Address | null
  /** Files, directories or URLs of chain specs, later ones win. Empty: the bundled ones. */
  readonly specSources: readonly string[]
  readonly skipWebsocketVerification: boolean
  readonly enableSelectionStats: boolean
  readonly maxSessionsPerUpstream: number
  /** Failures in a row that disable an upstream. */
  readonly upstreamFailureThreshold: number
  readonly epochDurationMs: number
  readonly healthCheckIntervalMs: number
  /** Null: no liveness probe. */
  readonly livenessProbeIntervalMs: number | null
  readonly maxRequestBytes: number
  readonly sockets: SocketLimits
  readonly subscriptions: SubscriptionConfig
  readonly drainTimeoutMs: number
}
