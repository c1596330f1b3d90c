// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { described } from './described.ts'
import { at, immutable, integer, list, object, oneOf, text } from './field.ts'
import { hostAndPort, image, objectName } from './names.ts'
import { byteSize, quantity, resources } from './quantity.ts'
import { secretKeyRef, tls } from './refs.ts'

const redisConnection = object(
  'An external Redis.',
  {
    topology: oneOf(described('resp-cache.topology'), [
      'standalone',
      'sentinel',
      'cluster',
    ]).default('standalone'),
    addresses: list(
      'Addresses of the nodes, or of the sentinels with topology sentinel.',
      hostAndPort('Address of a node.', 'redis.example.com:6379'),
      { min: 1, max: 32, kind: 'set' },
    ),
    masterName: text('Name of the master, with topology sentinel. Unset: mymaster.', {
      example: 'mymaster',
      max: 128,
      pattern: /^[\w.-]+$/,
      must: 'masterName must be of letters, digits, dots, dashes and underscores',
    }).optional(),
    username: secretKeyRef('User to authenticate as, from a Secret.', {
      name: 'redis-login',
      key: 'username',
    }).optional(),
    password: secretKeyRef('Password, from a Secret.', {
      name: 'redis-login',
      key: 'password',
    }).optional(),
    db: integer(described('resp-cache.db'), [0, 65_535]).default(0),
    keyPrefix: text(described('resp-cache.key-prefix'), {
      example: 'mainnet:',
      max: 128,
      pattern: /^[!-~]+$/,
      must: 'keyPrefix must be printable ASCII without spaces',
    }).optional(),
    tls: tls(described('resp-cache.tls')).optional(),
  },
  {
    'db must be 0 with topology cluster': "self.topology != 'cluster' || self.db == 0",
    'addresses must have one item with topology standalone':
      "self.topology != 'standalone' || self.addresses.size() == 1",
    'masterName must be unset without topology sentinel':
      "!has(self.masterName) || self.topology == 'sentinel'",
    'password must be set beside username': '!has(self.username) || has(self.password)',
  },
)

export type RedisConnection = z.output<typeof redisConnection>

const memory = object('A cache in the memory of each replica.', {
  maxSize: byteSize(
    'Maximum size per replica. It must fit into the memory of the pods.',
    '64Gi',
  ).default('128Mi'),
})

const cacheService = object('A cache service (`router cache`), which several routers can share.', {
  address: hostAndPort('Address of the cache service.', 'rpc-cache.rpc.svc:20100'),
}).optional()

const redisPod = {
  image: image("Image of Redis. Unset: the operator's default.", 'redis:8-alpine').optional(),
  resources: resources(
    'Resources of the container. Redis stores up to 75 % of the memory limit.',
  ).optional(),
}

const managedCache = object(
  'A Redis of the operator for answers only. It evicts the least recently used ones.',
  redisPod,
  {
    'resources must have a memory limit, which bounds the cache':
      "!has(self.resources) || (has(self.resources.limits) && 'memory' in self.resources.limits)",
  },
)

export const cache = object(
  'The cache of answers. With a shared store, each replica also caches 128Mi in memory. Unset: 32Mi per replica.',
  {
    type: oneOf(
      'Where answers are cached: in each replica, in a cache service, in an external Redis, or in one that the operator runs (Managed).',
      ['Memory', 'CacheService', 'Redis', 'Managed'],
      'Managed',
    ),
    memory: memory.optional(),
    cacheService,
    managed: managedCache.optional(),
    redis: redisConnection.optional(),
  },
  {
    'managed must be set only with type Managed': "self.type == 'Managed' || !has(self.managed)",
    'cacheService must be set with type CacheService, and only then':
      "(self.type == 'CacheService') == has(self.cacheService)",
    'redis must be set with type Redis, and only then': "(self.type == 'Redis') == has(self.redis)",
    'memory must be set only with type Memory': "self.type == 'Memory' || !has(self.memory)",
  },
)

const storage = object(
  'A volume for the append-only file. Unset: the data is lost with the pod. Immutable.',
  {
    size: quantity('Size of the volume.', '1Gi'),
    storageClassName: objectName(
      "Storage class. Unset: the cluster's default.",
      'standard',
    ).optional(),
  },
  immutable('set sharedState.mode to None, then to Managed again'),
)

const managed = object(
  'A Redis of the operator for sessions only, with a single instance. While it is down, calls with a session id fail; others are unaffected.',
  {
    ...redisPod,
    storage: storage.optional(),
  },
)

export const sharedState = object(
  'Where replicas share sticky sessions. Unset: each replica has its own.',
  {
    mode: oneOf(
      'None: each replica has its own sessions. Managed: a Redis that the operator runs. External: an external Redis. CacheService: a cache service.',
      ['None', 'Managed', 'External', 'CacheService'],
      'Managed',
    ),
    managed: managed.optional(),
    cacheService,
    external: redisConnection.optional(),
  },
  {
    'cacheService must be set with mode CacheService, and only then':
      "(self.mode == 'CacheService') == has(self.cacheService)",
    'external must be set with mode External, and only then':
      "(self.mode == 'External') == has(self.external)",
    'managed must be set only with mode Managed': "self.mode == 'Managed' || !has(self.managed)",
    'managed.storage must not be added or removed: set sharedState.mode to None, then to Managed again':
      at(
        '.managed',
        "self.mode != 'Managed' || oldSelf.mode != 'Managed' || self.?managed.storage.hasValue() == oldSelf.?managed.storage.hasValue()",
      ),
  },
)

export type ManagedRedis = z.output<typeof managed>
