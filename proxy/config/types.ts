// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Address } from './fields/address.ts'
import type { ApiInterface } from './fields/fields.ts'
import type { UpstreamUrl } from './fields/upstream-url.ts'
import type { TlsEntry } from './schema.ts'
import type { Secret } from './secret.ts'
import type {
  integrityLevels,
  logFormats,
  logLevels,
  SettingName,
  SettingValue,
  strategies,
} from './settings.ts'

/*
 * What the program works with: the config file once it was checked, rendered and merged with the
 * flags: every default filled in, every duration in milliseconds. The shape of the YAML itself is
 * in `schema.ts`.
 */

export type { Address } from './fields/address.ts'
export { type ApiInterface, apiInterfaces } from './fields/fields.ts'
export { integrityLevels, logLevels, logFormats, strategies } from './settings.ts'

export type Strategy = (typeof strategies)[number]
export type IntegrityLevel = (typeof integrityLevels)[number]
export type LogLevel = (typeof logLevels)[number]
export type LogFormat = (typeof logFormats)[number]

export const tiers = ['primary', 'backup'] as const
export type Tier = (typeof tiers)[number]

/* The settings by the names that the program has for them. What each means is said in `settings.ts`. */

export const relaySettings = {
  strategy: 'strategy',
  retryLimit: 'set-relay-retry-limit',
  maxAttempts: 'max-relay-attempts',
  processingTimeoutMs: 'default-processing-timeout',
  minRelayTimeoutMs: 'min-relay-timeout',
  integrity: 'integrity',
  retryMissingBlocks: 'retry-missing-blocks',
} as const

export const socketSettings = {
  maxMessageBytes: 'websocket-max-message-bytes',
  maxCalls: 'websocket-max-calls',
  maxSubscriptions: 'websocket-max-subscriptions',
  maxBufferedBytes: 'websocket-max-buffered-bytes',
  idleTimeoutMs: 'websocket-idle-timeout',
} as const

export const subscriptionSettings = {
  maxGapBlocks: 'subscription-max-gap-blocks',
  stallBlocks: 'subscription-stall-blocks',
  maxTopics: 'subscription-max-topics',
} as const

export const processSettings = {
  metricsListenAddress: 'metrics-listen-address',
  skipWebsocketVerification: 'skip-websocket-verification',
  enableSelectionStats: 'enable-selection-stats',
  maxSessionsPerUpstream: 'max-sessions-per-provider',
  upstreamFailureThreshold: 'upstream-failure-threshold',
  epochDurationMs: 'epoch-duration',
  healthCheckIntervalMs: 'health-check-interval',
  livenessProbeIntervalMs: 'liveness-probe-interval',
  maxRequestBytes: 'max-request-bytes',
  maxBufferedBytes: 'max-buffered-bytes',
  drainTimeoutMs: 'drain-timeout',
  logLevel: 'log-level',
  logFormat: 'log-format',
} as const

/** Values of settings. Null: switched off. */
export type ValuesOf<Names extends Readonly<Record<string, SettingName>>> = {
  readonly [Key in keyof Names]: SettingValue<Names[Key]>
}

/** How one listener relays. Set for all listeners at the top, overridable per endpoint. */
export type RelayConfig = ValuesOf<typeof relaySettings>
/** What one WebSocket of a client may cost. */
export type SocketLimits = ValuesOf<typeof socketSettings>
/** How subscriptions are kept whole. */
export type SubscriptionConfig = ValuesOf<typeof subscriptionSettings>

/** A listener: one chain through one interface. */
export interface EndpointConfig {
  readonly address: Address
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly relay: RelayConfig
}

/** One URL of an upstream. */
export interface NodeUrlConfig {
  /** The whole URL with its keys; its printable form is the origin, as written in the file. */
  readonly url: Secret
  readonly scheme: UpstreamUrl['scheme']
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
  /** As in the file: paths of PEM files. */
  readonly tls: TlsEntry | null
}

/** An upstream: one provider's node, or several URLs that count as one. */
export interface UpstreamConfig {
  readonly name: string
  readonly tier: Tier
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly nodeUrls: readonly NodeUrlConfig[]
}

/** The listeners, the upstreams, and the settings of the process. */
export interface RouterConfig extends ValuesOf<typeof processSettings> {
  readonly endpoints: readonly EndpointConfig[]
  readonly upstreams: readonly UpstreamConfig[]
  /** Files, directories or URLs of chain specs, later ones win. Empty: the bundled ones. */
  readonly specSources: readonly string[]
  /** Pages of these origins are served; null: of any. */
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly sockets: SocketLimits
  readonly subscriptions: SubscriptionConfig
}
