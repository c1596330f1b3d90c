// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type About, mapOf, object } from './field.ts'
import { quantity } from './quantity.ts'

function amounts(name: string, about: About) {
  const amount = quantity(name, { description: 'The amount.', example: '256Mi' })
  return mapOf(amount, { ...about, max: 16 })
}

/** Requests and limits of a container. */
export function resources(about: About) {
  return object(
    {
      requests: amounts('requests', {
        description: 'What is reserved for the container.',
        example: { cpu: '500m', memory: '512Mi' },
      }).optional(),
      limits: amounts('limits', {
        description: 'The most it may use. A CPU limit is seldom wise: it adds latency.',
        example: { memory: '512Mi' },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: '!has(self.requests) || !has(self.limits) || self.requests.all(k, !(k in self.limits) || quantity(string(self.requests[k])).compareTo(quantity(string(self.limits[k]))) <= 0)',
          message: 'requests must be at most limits',
          fieldPath: '.requests',
        },
      ],
    },
  )
}

export type Resources = z.output<ReturnType<typeof resources>>
