// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { conditions, observedGeneration } from './condition.ts'
import { integer, list, object, text } from './field.ts'

const routerEntry = object(
  {
    name: text({ description: 'Name of the RpcRouter.', max: 253 }),
    conditions: conditions.optional(),
  },
  { description: 'A router that selects it.' },
)

/** What the operator has to say of an UpstreamProvider. */
export const upstreamProviderStatus = object(
  {
    observedGeneration: observedGeneration().optional(),
    conditions: conditions.optional(),
    routers: list(routerEntry, {
      description: 'The routers that select it, and what each made of it.',
      max: 256,
      kind: ['name'],
    }).optional(),
    summary: object(
      {
        routers: text({
          description: 'Routers that run with it, of those that select it.',
          max: 16,
        }).optional(),
        urls: integer({ description: 'How many URLs it has.', min: 0, max: 16 }).optional(),
      },
      { description: 'Figures for the columns of kubectl get.' },
    ).optional(),
  },
  { description: 'What the operator found. Written by the operator alone.' },
)

export type UpstreamProviderStatus = z.output<typeof upstreamProviderStatus>
