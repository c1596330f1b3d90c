// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'
import type { ManagedRedis, RedisConnection } from '../api/stores.ts'
import { type YamlMap, configText } from './config-text.ts'
import { objectName, type RedisComponent, redisPasswordKey, redisPort } from './object-names.ts'
import { type ValueSource, type ValueCollector, tlsSection } from './value-collector.ts'

/** A managed Redis. */
export interface OwnRedis {
  readonly component: RedisComponent
  readonly settings: ManagedRedis
}

/** A router's Redis, with its field in the spec. */
type RedisChoice = { readonly field: string } & (
  OwnRedis | { readonly connection: RedisConnection }
)

/** The Redis instances of a router; null for none. */
export interface StateChoice {
  /** For shared sessions; without these, for answers. */
  readonly main: RedisChoice | null
  /** A separate Redis for answers. */
  readonly forAnswers: RedisChoice | null
}

/** Decides where state is stored. */
export function chooseState({ sharedState, cache }: RpcRouterSpec): StateChoice {
  const { mode, managed: settings = {}, external } = sharedState
  const sessions: RedisChoice | null =
    mode === 'Managed'
      ? { field: 'spec.sharedState.managed', component: 'redis', settings }
      : external
        ? { field: 'spec.sharedState.external', connection: external }
        : null
  const answers: RedisChoice | null =
    cache?.type === 'Managed'
      ? { field: 'spec.cache.managed', component: 'redis-cache', settings: cache.managed ?? {} }
      : cache?.redis
        ? { field: 'spec.cache.redis', connection: cache.redis }
        : null
  if (mode === 'None') return { main: answers, forAnswers: null }
  const isOne = external && JSON.stringify(external) === JSON.stringify(cache?.redis)
  return { main: sessions, forAnswers: isOne ? null : answers }
}

/** Returns every Redis of a router. */
export function redisOf(spec: RpcRouterSpec): readonly RedisChoice[] {
  const { main, forAnswers } = chooseState(spec)
  return [main, forAnswers].filter((each) => each !== null)
}

/** Returns the managed Redis of a router. */
export function ownRedisOf(spec: RpcRouterSpec): readonly OwnRedis[] {
  return redisOf(spec).filter((each) => 'settings' in each)
}

/** Returns the sections of the config about shared state. */
export function storeSections(router: RpcRouter, collector: ValueCollector): YamlMap {
  const { sharedState, cache } = router.spec
  const { main, forAnswers } = chooseState(router.spec)
  const isShared = sharedState.mode !== 'None'
  // A store for sessions must not fill up with answers.
  const inStore = isShared ? { shared: cache !== undefined && cache.type !== 'Memory' } : undefined
  return {
    'resp-cache': main ? redisSection(router, main, 'redis', collector) : undefined,
    cache: forAnswers
      ? { 'resp-cache': redisSection(router, forAnswers, 'redis-cache', collector) }
      : inStore,
    'shared-state': isShared || undefined,
  }
}

/** @param word part of the section's variable names */
function redisSection(
  router: RpcRouter,
  redis: RedisChoice,
  word: string,
  collector: ValueCollector,
): YamlMap {
  const at = (part: string): ValueSource => ({
    field: `${redis.field}.${part}`,
    words: ['', word, part],
  })
  if ('settings' in redis) {
    const name = objectName(router, redis.component)
    const password = collector.ownSecretValue({ name, key: redisPasswordKey })
    return {
      addresses: [`${name}.${router.metadata.namespace}.svc:${redisPort}`],
      password: configText([password]) ?? undefined,
    }
  }
  const { topology, addresses, masterName, username, password, db, keyPrefix, tls } =
    redis.connection
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
