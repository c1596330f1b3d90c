// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { object, oneOf } from './field.ts'
import { hostAndPort } from './names.ts'
import { byteSize } from './quantity.ts'
import { redisConnection } from './redis.ts'

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
    description: 'The cache of answers. Unset: none.',
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
