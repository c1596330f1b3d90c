// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SettingName } from '../../proxy/config/settings.ts'
import type { EndpointRelay } from '../api/relay.ts'
import type { RpcRouterSpec, RpcRouter } from '../api/rpc-router.ts'
import { type YamlMap, type YamlValue, configText } from './config-text.ts'
import { metricsPort, redisObjectName, redisPasswordKey, redisPort } from './object-names.ts'
import type { ManagedRedis, RedisConnection } from '../api/stores.ts'
import { type Place, type ValueCollector, tlsSection } from './value-collector.ts'
import type { RouterRefusal } from './translation.ts'

/** Where a setting of the router's config comes from in the spec. */
interface SettingSource {
  readonly key: SettingName
  /** `spec.relay.strategy`: where it stands, also for messages. */
  readonly field: string
  /** What the config says instead of the field. */
  readonly write?: (spec: RpcRouterSpec) => YamlValue
}

/** Every setting that follows from one field of the spec. Both directions use it: to write, and to name a mistake. */
export const settingSources: readonly SettingSource[] = [
  { key: 'strategy', field: 'spec.relay.strategy' },
  { key: 'set-relay-retry-limit', field: 'spec.relay.retryLimit' },
  { key: 'max-relay-attempts', field: 'spec.relay.maxAttempts' },
  { key: 'default-processing-timeout', field: 'spec.relay.processingTimeout' },
  { key: 'min-relay-timeout', field: 'spec.relay.minRelayTimeout' },
  { key: 'integrity', field: 'spec.relay.integrity' },
  { key: 'retry-missing-blocks', field: 'spec.relay.retryMissingBlocks' },
  { key: 'max-request-bytes', field: 'spec.maxRequestSize' },
  { key: 'max-sessions-per-provider', field: 'spec.upstreams.maxSessionsPerProvider' },
  { key: 'upstream-failure-threshold', field: 'spec.upstreams.failureThreshold' },
  { key: 'epoch-duration', field: 'spec.upstreams.epochDuration' },
  { key: 'health-check-interval', field: 'spec.upstreams.healthCheckInterval' },
  { key: 'liveness-probe-interval', field: 'spec.upstreams.livenessProbeInterval' },
  {
    key: 'skip-websocket-verification',
    field: 'spec.skipWebsocketVerification',
    // Unset it follows from the upstreams.
    write: (spec) => spec.skipWebsocketVerification ?? false,
  },
  { key: 'websocket-max-message-bytes', field: 'spec.webSocket.maxMessageSize' },
  { key: 'websocket-max-calls', field: 'spec.webSocket.maxCalls' },
  { key: 'websocket-max-subscriptions', field: 'spec.webSocket.maxSubscriptions' },
  { key: 'websocket-max-buffered-bytes', field: 'spec.webSocket.maxBufferedSize' },
  { key: 'websocket-idle-timeout', field: 'spec.webSocket.idleTimeout' },
  { key: 'subscription-max-gap-blocks', field: 'spec.subscriptions.maxGapBlocks' },
  { key: 'subscription-stall-blocks', field: 'spec.subscriptions.stallBlocks' },
  { key: 'cache-be', field: 'spec.cache.cacheService.address' },
  {
    key: 'metrics-listen-address',
    field: 'spec.bindHost',
    write: ({ bindHost }) => bindAddress(bindHost, metricsPort),
  },
  { key: 'enable-selection-stats', field: 'spec.monitoring.selectionStats' },
  {
    key: 'drain-timeout',
    field: 'spec.pod.shutdown.drainSeconds',
    write: ({ pod }) => `${pod.shutdown.drainSeconds}s`,
  },
  { key: 'log-level', field: 'spec.logging.level' },
  { key: 'log-format', field: 'spec.logging.format' },
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

/** The settings at the top of the config. */
export function settingSection(spec: RpcRouterSpec): YamlMap {
  return Object.fromEntries(
    settingSources.map(({ key, field, write }) => [
      key,
      write === undefined ? valueAt(spec, field) : write(spec),
    ]),
  )
}

const ofRelay = 'spec.relay.'

/** What one listener does otherwise: the `relay` section of an endpoint. */
export function relaySection(relay: EndpointRelay = {}): YamlMap | undefined {
  const entries = settingSources
    .filter(({ field }) => field.startsWith(ofRelay))
    .map(
      ({ key, field }) => [key, relay[field.slice(ofRelay.length) as keyof EndpointRelay]] as const,
    )
  return entries.every(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}

/** `0.0.0.0:3360`, `[::]:3360`. */
export function bindAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The key-value store of a router, which keeps answers, sticky sessions or both. */
export type StateStore =
  | { readonly kind: 'none' }
  | { readonly kind: 'managed'; readonly settings: ManagedRedis }
  | { readonly kind: 'external'; readonly connection: RedisConnection; readonly field: string }

/** Which store a router has, and whether its replicas share their sessions in it. */
export interface StateChoice {
  readonly store: StateStore
  readonly shared: boolean
  readonly refusals: readonly RouterRefusal[]
}

/** Decides where state is kept. */
export function chooseState({ sharedState, cache }: RpcRouterSpec): StateChoice {
  const { mode, managed = {}, external } = sharedState
  const ofCache = cache?.redis
  if (mode === 'None')
    return { store: externalStore(ofCache, 'spec.cache.redis'), shared: false, refusals: [] }
  const store: StateStore =
    mode === 'Managed'
      ? { kind: 'managed', settings: managed }
      : externalStore(external, 'spec.sharedState.external')
  const isOne = mode === 'External' && JSON.stringify(external) === JSON.stringify(ofCache)
  return { store, shared: true, refusals: ofCache === undefined || isOne ? [] : [twoStores] }
}

function externalStore(connection: RedisConnection | undefined, field: string): StateStore {
  return connection === undefined ? { kind: 'none' } : { kind: 'external', connection, field }
}

const twoStores: RouterRefusal = {
  reason: 'InvalidSpec',
  field: 'spec.sharedState',
  message:
    'a router has one Redis, for answers and for sessions: with cache.redis, sharedState must be unset, None, or External with the same connection',
}

/** The `resp-cache` section of the config. */
export function storeSection(
  router: RpcRouter,
  store: StateStore,
  collector: ValueCollector,
): YamlMap | undefined {
  if (store.kind === 'none') return undefined
  if (store.kind === 'managed') {
    const name = redisObjectName(router)
    const place = { field: 'spec.sharedState.managed', words: ['', 'redis', 'password'] }
    const password = collector.ownSecretValue(place, { name, key: redisPasswordKey })
    return {
      addresses: [`${name}.${router.metadata.namespace}.svc:${redisPort}`],
      password: configText([password]) ?? undefined,
    }
  }
  const { topology, addresses, username, password, db, keyPrefix, tls } = store.connection
  const at = (part: string): Place => ({
    field: `${store.field}.${part}`,
    words: ['', 'redis', part],
  })
  const secret = (part: string, ref: typeof password): string | undefined =>
    ref && (configText([collector.secretValue(at(part), ref)]) ?? undefined)
  return {
    topology,
    addresses,
    username: secret('username', username),
    password: secret('password', password),
    db,
    'key-prefix': keyPrefix && (configText([{ literal: keyPrefix }]) ?? undefined),
    tls: tls && tlsSection(at('tls'), tls, collector),
  }
}
