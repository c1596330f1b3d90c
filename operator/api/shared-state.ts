// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { immutable, object, oneOf, text } from './field.ts'
import { objectName } from './names.ts'
import { resources } from './pod-resources.ts'
import { quantity } from './quantity.ts'
import { redisConnection } from './redis.ts'

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
    description:
      'Where replicas share the choices of sticky sessions. Unset: nowhere; each replica keeps them to itself.',
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
