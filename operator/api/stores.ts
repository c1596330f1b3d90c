// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { untilBuilt } from './capabilities.ts'
import { type About, immutable, integer, list, object, oneOf, text } from './field.ts'
import { hostAndPort, objectName } from './names.ts'
import { byteSize, quantity, resources } from './quantity.ts'
import { secretKeyRef, tls } from './refs.ts'
import type { z } from 'zod'

/** How a Redis that is not ours is reached. */
export function redisConnection(about: About) {
  return object(
    {
      topology: oneOf(['standalone', 'sentinel', 'cluster'], {
        description: 'How the store is deployed.',
        example: 'standalone',
      }).default('standalone'),
      addresses: list(
        hostAndPort('addresses', {
          description: 'Address of a node.',
          example: 'redis.example.com:6379',
        }),
        {
          description:
            'Addresses of the nodes of the store; of the sentinels with topology sentinel.',
          example: ['redis.example.com:6379'],
          min: 1,
          max: 32,
          kind: 'set',
        },
      ),
      username: secretKeyRef({
        description: 'User to authenticate as, from a Secret.',
        example: { name: 'redis-login', key: 'username' },
      }).optional(),
      password: secretKeyRef({
        description: 'Password, from a Secret.',
        example: { name: 'redis-login', key: 'password' },
      }).optional(),
      db: integer({
        description: 'Number of the database. A cluster has none but 0.',
        example: 0,
        min: 0,
        max: 65_535,
      }).default(0),
      keyPrefix: text({
        description:
          'What every key begins with. Routers that share a store and not their state need different ones.',
        example: 'mainnet:',
        max: 128,
        pattern: /^[!-~]+$/,
        must: 'keyPrefix must be printable ASCII without spaces',
      }).optional(),
      tls: tls({
        description: 'TLS settings. Present, even empty: the connection is encrypted.',
        example: { ca: { configMapKeyRef: { name: 'redis-ca', key: 'ca.crt' } } },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: "self.topology != 'cluster' || self.db == 0",
          message: 'db must be 0 with topology cluster',
        },
        {
          rule: "self.topology != 'standalone' || self.addresses.size() == 1",
          message: 'addresses must have one item with topology standalone',
        },
        {
          rule: '!has(self.username) || has(self.password)',
          message: 'password must be set beside username',
        },
      ],
    },
  )
}

export type RedisConnection = z.output<ReturnType<typeof redisConnection>>

const memory = object(
  {
    maxSize: byteSize({
      name: 'maxSize',
      description: 'The most that a replica keeps. It must fit into the memory of the pods.',
      example: '128Mi',
      max: '64Gi',
    }).default('128Mi'),
  },
  {
    description: 'A cache inside of each replica.',
    example: { maxSize: '128Mi' },
  },
)

const cacheServer = object(
  {
    address: hostAndPort('address', {
      description: 'Address of the cache service.',
      example: 'rpc-cache.rpc.svc:20100',
    }),
  },
  {
    description: 'The cache service: `router cache`, which several routers can share.',
    example: { address: 'rpc-cache.rpc.svc:20100' },
  },
)

/** Where answers are kept. */
export const cache = object(
  {
    type: oneOf(['Memory', 'CacheService', 'Redis'], {
      description: 'Where answers are kept: in each replica, in the cache service, or in Redis.',
      example: 'Redis',
    }),
    memory: memory.optional(),
    cacheService: cacheServer.optional(),
    redis: redisConnection({
      description: 'A Redis of your own.',
      example: { addresses: ['redis.example.com:6379'] },
    }).optional(),
  },
  {
    description: untilBuilt('resp-cache', 'The cache of answers. Unset: none.'),
    example: { type: 'Redis', redis: { addresses: ['redis.example.com:6379'] } },
    rules: [
      {
        rule: "(self.type == 'CacheService') == has(self.cacheService)",
        message: 'cacheService must be set with type CacheService, and with no other',
      },
      {
        rule: "(self.type == 'Redis') == has(self.redis)",
        message: 'redis must be set with type Redis, and with no other',
      },
      {
        rule: "self.type == 'Memory' || !has(self.memory)",
        message: 'memory must be set with type Memory alone',
      },
    ],
  },
)

const storage = object(
  {
    size: quantity('size', { description: 'Size of the volume.', example: '1Gi' }),
    storageClassName: objectName('storageClassName', {
      description: 'Storage class. Unset: the default one of the cluster.',
      example: 'standard',
    }).optional(),
  },
  {
    description:
      'A volume for the append-only file. Unset: what is stored is lost with the pod. Cannot change.',
    example: { size: '1Gi' },
    rules: [immutable('storage', 'set sharedState.mode to None, then to Managed again')],
  },
)

const managed = object(
  {
    image: text({
      description: "Image of Redis. Unset: the operator's default.",
      example: 'redis:8-alpine',
      max: 512,
      pattern: /^[^\s]+$/,
      must: 'image must be the name of an image, without spaces',
    }).optional(),
    resources: resources({
      description: 'What its container asks for.',
      example: { requests: { cpu: '50m', memory: '64Mi' } },
    }).optional(),
    storage: storage.optional(),
  },
  {
    description:
      'A Redis that the operator runs: a single instance. While it is away, calls with a session id fail; others are not touched.',
    example: { storage: { size: '1Gi' } },
  },
)

/** Where replicas share the choices of sticky sessions. */
export const sharedState = object(
  {
    mode: oneOf(['None', 'Managed', 'External'], {
      description:
        'None: each replica keeps sessions to itself. Managed: the operator runs a Redis. External: a Redis of yours.',
      example: 'Managed',
    }),
    managed: managed.optional(),
    external: redisConnection({
      description: 'A Redis of your own.',
      example: {
        addresses: ['redis.example.com:6379'],
        password: { name: 'redis-login', key: 'password' },
      },
    }).optional(),
  },
  {
    description: untilBuilt(
      'shared-state',
      'Where replicas share the choices of sticky sessions. Unset: nowhere; each replica keeps them to itself.',
    ),
    example: { mode: 'Managed' },
    rules: [
      {
        rule: "(self.mode == 'External') == has(self.external)",
        message: 'external must be set with mode External, and with no other',
      },
      {
        rule: "self.mode == 'Managed' || !has(self.managed)",
        message: 'managed must be set with mode Managed alone',
      },
      {
        rule: "self.mode != 'Managed' || oldSelf.mode != 'Managed' || self.?managed.storage.hasValue() == oldSelf.?managed.storage.hasValue()",
        message:
          'managed.storage must not come or go: set sharedState.mode to None, then to Managed again',
        fieldPath: '.managed',
      },
    ],
  },
)

export type ManagedRedis = z.output<typeof managed>
