// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import type { ManagedRedis, RedisConnection } from '../api/stores.ts'
import { type YamlMap, configText } from './config-text.ts'
import { redisObjectName, redisPasswordKey, redisPort } from './object-names.ts'
import type { RouterRefusal } from './translation.ts'
import { type Place, type ValueCollector, tlsSection } from './value-collector.ts'

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
  const { topology, addresses, masterName, username, password, db, keyPrefix, tls } =
    store.connection
  const at = (part: string): Place => ({
    field: `${store.field}.${part}`,
    words: ['', 'redis', part],
  })
  const secret = (part: string, ref: typeof password): string | undefined =>
    ref && (configText([collector.secretValue(at(part), ref)]) ?? undefined)
  return {
    topology,
    addresses,
    'master-name': masterName,
    username: secret('username', username),
    password: secret('password', password),
    db,
    'key-prefix': keyPrefix && (configText([{ literal: keyPrefix }]) ?? undefined),
    tls: tls && tlsSection(at('tls'), tls, collector),
  }
}
