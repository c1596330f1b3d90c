// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { at, immutable, integer, list, object, oneOf, text } from './field.ts'
import { hostAndPort, image, objectName } from './names.ts'
import { byteSize, quantity, resources } from './quantity.ts'
import { secretKeyRef, tls } from './refs.ts'

const redisConnection = object(
  'A Redis of your own.',
  {
    topology: oneOf('How the store is deployed.', ['standalone', 'sentinel', 'cluster']).default(
      'standalone',
    ),
    addresses: list(
      'Addresses of the nodes of the store; of the sentinels with topology sentinel.',
      hostAndPort('Address of a node.', 'redis.example.com:6379'),
      { min: 1, max: 32, kind: 'set' },
    ),
    masterName: text('With topology sentinel: the name of the master. Unset: mymaster.', {
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
    db: integer('Number of the database. A cluster has none but 0.', [0, 65_535]).default(0),
    keyPrefix: text(
      'What every key begins with. Routers that share a store and not their state need different ones.',
      {
        example: 'mainnet:',
        max: 128,
        pattern: /^[!-~]+$/,
        must: 'keyPrefix must be printable ASCII without spaces',
      },
    ).optional(),
    tls: tls('TLS settings. Present, even empty: the connection is encrypted.').optional(),
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

const memory = object('A cache inside of each replica.', {
  maxSize: byteSize(
    'The most that a replica keeps. It must fit into the memory of the pods.',
    '64Gi',
  ).default('128Mi'),
})

const cacheService = object('The cache service: `router cache`, which several routers can share.', {
  address: hostAndPort('Address of the cache service.', 'rpc-cache.rpc.svc:20100'),
}).optional()

const redisPod = {
  image: image("Image of Redis. Unset: the operator's default.", 'redis:8-alpine').optional(),
  resources: resources(
    'What its container asks for. Redis keeps 75 % of the memory limit.',
  ).optional(),
}

const managedCache = object(
  'A Redis that the operator runs for answers alone. It evicts those that are asked for least recently.',
  redisPod,
  {
    'resources must have a memory limit, which bounds the cache':
      "!has(self.resources) || (has(self.resources.limits) && 'memory' in self.resources.limits)",
  },
)

export const cache = object(
  'The cache of answers. Beside a shared store, each replica keeps 128Mi in memory. Unset: each replica keeps 32Mi.',
  {
    type: oneOf(
      'Where answers are kept: in each replica, in the cache service, in a Redis of yours, or in one that the operator runs (Managed).',
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
  'A volume for the append-only file. Unset: what is stored is lost with the pod. Cannot change.',
  {
    size: quantity('Size of the volume.', '1Gi'),
    storageClassName: objectName(
      'Storage class. Unset: the default one of the cluster.',
      'standard',
    ).optional(),
  },
  immutable('set sharedState.mode to None, then to Managed again'),
)

const managed = object(
  'A Redis that the operator runs for sessions alone: a single instance. While it is away, calls with a session id fail; others are not touched.',
  {
    ...redisPod,
    storage: storage.optional(),
  },
)

export const sharedState = object(
  'Where replicas share the choices of sticky sessions. Unset: nowhere; each replica keeps them to itself.',
  {
    mode: oneOf(
      'None: each replica keeps sessions to itself. Managed: the operator runs a Redis. External: a Redis of yours. CacheService: the cache service.',
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
