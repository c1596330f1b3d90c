// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type About, integer, list, object, oneOf, text } from './field.ts'
import { hostAndPort } from './names.ts'
import { secretKeyRef } from './refs.ts'
import { tls } from './tls.ts'

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
