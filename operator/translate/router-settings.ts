// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SettingName } from '../../proxy/config/settings.ts'
import type { EndpointRelay } from '../api/relay.ts'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { YamlMap, YamlValue } from './config-text.ts'
import { metricsPort } from './object-names.ts'

/** Where a setting of the router's config comes from in the spec. */
interface SettingSource {
  readonly key: SettingName
  /** Path of the field, such as `spec.relay.strategy`; also used in messages. */
  readonly field: string
  /** Computes the setting, unless it is the value of the field. */
  readonly write?: (spec: RpcRouterSpec) => YamlValue | undefined
}

/** Every setting that maps to one field of the spec, for writing configs and locating faults. */
export const settingSources: readonly SettingSource[] = [
  { key: 'strategy', field: 'spec.relay.strategy' },
  { key: 'set-relay-retry-limit', field: 'spec.relay.retryLimit' },
  { key: 'max-relay-attempts', field: 'spec.relay.maxAttempts' },
  { key: 'default-processing-timeout', field: 'spec.relay.processingTimeout' },
  { key: 'min-relay-timeout', field: 'spec.relay.minRelayTimeout' },
  { key: 'integrity', field: 'spec.relay.integrity' },
  { key: 'retry-missing-blocks', field: 'spec.relay.retryMissingBlocks' },
  { key: 'max-request-bytes', field: 'spec.maxRequestSize' },
  { key: 'trusted-proxies', field: 'spec.trustedProxies' },
  { key: 'client-address-header', field: 'spec.clientAddressHeader' },
  { key: 'max-sessions-per-provider', field: 'spec.upstreams.maxSessionsPerProvider' },
  { key: 'upstream-failure-threshold', field: 'spec.upstreams.failureThreshold' },
  { key: 'epoch-duration', field: 'spec.upstreams.epochDuration' },
  { key: 'health-check-interval', field: 'spec.upstreams.healthCheckInterval' },
  { key: 'liveness-probe-interval', field: 'spec.upstreams.livenessProbeInterval' },
  {
    key: 'skip-websocket-verification',
    field: 'spec.skipWebsocketVerification',
    // If unset, the upstreams decide.
    write: (spec) => spec.skipWebsocketVerification ?? false,
  },
  { key: 'websocket-max-message-bytes', field: 'spec.webSocket.maxMessageSize' },
  { key: 'websocket-max-calls', field: 'spec.webSocket.maxCalls' },
  { key: 'websocket-max-subscriptions', field: 'spec.webSocket.maxSubscriptions' },
  { key: 'websocket-max-buffered-bytes', field: 'spec.webSocket.maxBufferedSize' },
  { key: 'websocket-idle-timeout', field: 'spec.webSocket.idleTimeout' },
  { key: 'subscription-max-gap-blocks', field: 'spec.subscriptions.maxGapBlocks' },
  { key: 'subscription-stall-blocks', field: 'spec.subscriptions.stallBlocks' },
  {
    key: 'cache-bytes',
    field: 'spec.cache.memory.maxSize',
    // Replicas also cache answers from a shared store in memory.
    write: ({ cache }) => cache && (cache.memory?.maxSize ?? '128Mi'),
  },
  {
    key: 'cache-be',
    field: 'spec.cache.cacheService.address',
    write: ({ cache, sharedState }) => (cache?.cacheService ?? sharedState.cacheService)?.address,
  },
  {
    key: 'metrics-listen-address',
    field: 'spec.bindHost',
    write: ({ bindHost }) => bindAddress(bindHost, metricsPort),
  },
  { key: 'workers', field: 'spec.pod.workers' },
  { key: 'enable-selection-stats', field: 'spec.monitoring.selectionStats' },
  {
    key: 'drain-timeout',
    field: 'spec.pod.shutdown.drainSeconds',
    write: ({ pod }) => `${pod.shutdown.drainSeconds}s`,
  },
  { key: 'log-level', field: 'spec.logging.level' },
  { key: 'log-format', field: 'spec.logging.format' },
  { key: 'access-log', field: 'spec.logging.accessLog' },
]

function valueAt(spec: RpcRouterSpec, field: string): YamlValue | undefined {
  return field
    .split('.')
    .slice(1)
    .reduce<unknown>(
      (within, name) => (within as Readonly<Record<string, unknown>> | undefined)?.[name],
      spec,
    ) as YamlValue | undefined
}

/** Returns the top-level settings of the config. */
export function settingSection(spec: RpcRouterSpec): YamlMap {
  return Object.fromEntries(
    settingSources.map(({ key, field, write }) => [
      key,
      write === undefined ? valueAt(spec, field) : write(spec),
    ]),
  )
}

const ofRelay = 'spec.relay.'

/** Returns the `relay` section of an endpoint, which overrides the router's settings. */
export function relaySection(relay: EndpointRelay = {}): YamlMap | undefined {
  const entries = settingSources
    .filter(({ field }) => field.startsWith(ofRelay))
    .map(
      ({ key, field }) => [key, relay[field.slice(ofRelay.length) as keyof EndpointRelay]] as const,
    )
  return entries.every(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}

/** Returns `0.0.0.0:3360` or `[::]:3360`. */
export function bindAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
