// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SettingName } from '../../proxy/config/settings.ts'
import type { EndpointRelay } from '../api/relay.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { YamlMap, YamlValue } from './canonical-yaml.ts'
import { metricsPort } from './pod-paths.ts'

/** Where a setting of the router's config comes from in the spec. */
interface SettingSource {
  readonly key: SettingName
  readonly field: string
  readonly read: (spec: RpcRouterSpec) => YamlValue | undefined
}

/** Every setting that follows from one field of the spec. Both directions use it: to write, and to name a mistake. */
export const settingSources: readonly SettingSource[] = [
  { key: 'strategy', field: 'spec.relay.strategy', read: ({ relay }) => relay.strategy },
  {
    key: 'set-relay-retry-limit',
    field: 'spec.relay.retryLimit',
    read: ({ relay }) => relay.retryLimit,
  },
  {
    key: 'max-relay-attempts',
    field: 'spec.relay.maxAttempts',
    read: ({ relay }) => relay.maxAttempts,
  },
  {
    key: 'default-processing-timeout',
    field: 'spec.relay.processingTimeout',
    read: ({ relay }) => relay.processingTimeout,
  },
  {
    key: 'min-relay-timeout',
    field: 'spec.relay.minRelayTimeout',
    read: ({ relay }) => relay.minRelayTimeout,
  },
  { key: 'integrity', field: 'spec.relay.integrity', read: ({ relay }) => relay.integrity },
  {
    key: 'retry-missing-blocks',
    field: 'spec.relay.retryMissingBlocks',
    read: ({ relay }) => relay.retryMissingBlocks,
  },
  { key: 'max-request-bytes', field: 'spec.maxRequestSize', read: (spec) => spec.maxRequestSize },
  {
    key: 'max-sessions-per-provider',
    field: 'spec.upstreams.maxSessionsPerProvider',
    read: ({ upstreams }) => upstreams.maxSessionsPerProvider,
  },
  {
    key: 'upstream-failure-threshold',
    field: 'spec.upstreams.failureThreshold',
    read: ({ upstreams }) => upstreams.failureThreshold,
  },
  {
    key: 'epoch-duration',
    field: 'spec.upstreams.epochDuration',
    read: ({ upstreams }) => upstreams.epochDuration,
  },
  {
    key: 'health-check-interval',
    field: 'spec.upstreams.healthCheckInterval',
    read: ({ upstreams }) => upstreams.healthCheckInterval,
  },
  {
    key: 'liveness-probe-interval',
    field: 'spec.upstreams.livenessProbeInterval',
    read: ({ upstreams }) => upstreams.livenessProbeInterval,
  },
  {
    key: 'skip-websocket-verification',
    field: 'spec.skipWebsocketVerification',
    // Unset it follows from the upstreams.
    read: (spec) => spec.skipWebsocketVerification ?? false,
  },
  {
    key: 'websocket-max-message-bytes',
    field: 'spec.webSocket.maxMessageSize',
    read: ({ webSocket }) => webSocket?.maxMessageSize,
  },
  {
    key: 'websocket-max-calls',
    field: 'spec.webSocket.maxCalls',
    read: ({ webSocket }) => webSocket?.maxCalls,
  },
  {
    key: 'websocket-max-subscriptions',
    field: 'spec.webSocket.maxSubscriptions',
    read: ({ webSocket }) => webSocket?.maxSubscriptions,
  },
  {
    key: 'websocket-max-buffered-bytes',
    field: 'spec.webSocket.maxBufferedSize',
    read: ({ webSocket }) => webSocket?.maxBufferedSize,
  },
  {
    key: 'websocket-idle-timeout',
    field: 'spec.webSocket.idleTimeout',
    read: ({ webSocket }) => webSocket?.idleTimeout,
  },
  {
    key: 'subscription-max-gap-blocks',
    field: 'spec.subscriptions.maxGapBlocks',
    read: ({ subscriptions }) => subscriptions?.maxGapBlocks,
  },
  {
    key: 'subscription-stall-blocks',
    field: 'spec.subscriptions.stallBlocks',
    read: ({ subscriptions }) => subscriptions?.stallBlocks,
  },
  {
    key: 'cache-be',
    field: 'spec.cache.cacheService.address',
    read: ({ cache }) => cache?.cacheService?.address,
  },
  {
    key: 'metrics-listen-address',
    field: 'spec.bindHost',
    read: ({ bindHost }) => bindAddress(bindHost, metricsPort),
  },
  {
    key: 'enable-selection-stats',
    field: 'spec.monitoring.selectionStats',
    read: ({ monitoring }) => monitoring.selectionStats,
  },
  {
    key: 'drain-timeout',
    field: 'spec.pod.shutdown.drainSeconds',
    read: ({ pod }) => `${pod.shutdown.drainSeconds}s`,
  },
  { key: 'log-level', field: 'spec.logging.level', read: ({ logging }) => logging.level },
  { key: 'log-format', field: 'spec.logging.format', read: ({ logging }) => logging.format },
]

/** The settings at the top of the config. */
export function settingSection(spec: RpcRouterSpec): YamlMap {
  return Object.fromEntries(settingSources.map(({ key, read }) => [key, read(spec)]))
}

/** What one listener does otherwise: the `relay` section of an endpoint. */
export function relaySection(relay: EndpointRelay | undefined): YamlMap | undefined {
  if (relay === undefined) return undefined
  const section = {
    strategy: relay.strategy,
    'set-relay-retry-limit': relay.retryLimit,
    'max-relay-attempts': relay.maxAttempts,
    'default-processing-timeout': relay.processingTimeout,
    'min-relay-timeout': relay.minRelayTimeout,
    integrity: relay.integrity,
    'retry-missing-blocks': relay.retryMissingBlocks,
  }
  return Object.values(section).every((value) => value === undefined) ? undefined : section
}

/** `0.0.0.0:3360`, `[::]:3360`. */
export function bindAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
