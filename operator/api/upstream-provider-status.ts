// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { conditions, observedGeneration } from './condition.ts'
import { integer, list, object, oneOf, text } from './field.ts'

/** How the replicas of a router see an upstream, from the best to the worst. */
const upstreamHealthStates = ['Eligible', 'Degraded', 'Ineligible', 'Unknown'] as const

const health = object(
  {
    state: oneOf(upstreamHealthStates, {
      description:
        'Eligible: every replica would ask it. Degraded: some would. Ineligible: none would. Unknown: no replica answered.',
    }),
    replicas: integer({ description: 'Replicas that were asked.', min: 0, max: 10_000 }),
    eligibleReplicas: integer({
      description: 'Replicas to which it is eligible.',
      min: 0,
      max: 10_000,
    }),
  },
  { description: 'How the replicas of the router see it.' },
)

const routerEntry = object(
  {
    name: text({ description: 'Name of the RpcRouter.', max: 253 }),
    conditions: conditions.optional(),
    health: health.optional(),
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
export type UpstreamHealth = z.output<typeof health>
