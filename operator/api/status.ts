// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { integer, list, object, oneOf, text } from './field.ts'
import type { z } from 'zod'

/** Generations count from 1 and have 64 bits; a number of JavaScript is exact to here. */
const maxGeneration = Number.MAX_SAFE_INTEGER

/** The generation of the object that was looked at last. */
function observedGeneration() {
  return integer({
    description: 'The metadata.generation that this was derived from.',
    min: 0,
    max: maxGeneration,
  })
}

const condition = object(
  {
    type: text({ description: 'What is judged.', example: 'Ready', max: 316 }),
    status: oneOf(['True', 'False', 'Unknown'], {
      description: 'Whether it holds.',
      example: 'True',
    }),
    observedGeneration: observedGeneration().optional(),
    lastTransitionTime: text({
      description: 'When status changed last.',
      example: '2026-01-31T03:00:00Z',
      max: 64,
    }).meta({ format: 'date-time' }),
    reason: text({
      description: 'One word for programs; docs/reference/conditions.md lists them all.',
      example: 'Ready',
      max: 128,
      pattern: /^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$/,
    }),
    message: text({
      description: 'A sentence for people: what is wrong, where, and what would be right.',
      min: 0,
      max: 32_768,
    }),
  },
  { description: 'One thing that is true, false or not known of the object.' },
)

/** Conditions, at most one of a type. */
const conditions = list(condition, {
  description: 'What holds of the object. docs/reference/conditions.md lists types and reasons.',
  max: 16,
  kind: ['type'],
})

export type Condition = z.output<typeof condition>

const count = (description: string) => integer({ description, min: 0, max: 10_000 })

const listener = object(
  {
    name: text({ description: 'Name of the endpoint.', max: 15 }),
    port: integer({ description: 'Its port.', min: 1, max: 65_535 }),
    chainId: text({ description: 'Chain that it serves.', max: 64 }),
    apiInterface: text({ description: 'Interface that it serves.', max: 32 }),
    url: text({ description: 'Where clients in the cluster reach it.', max: 512 }).optional(),
    providers: count('Accepted providers that serve it.'),
  },
  { description: 'A listener that was programmed.' },
)

/** What the operator has to say of an RpcRouter. */
export const rpcRouterStatus = object(
  {
    observedGeneration: observedGeneration().optional(),
    conditions: conditions.optional(),
    configHash: text({
      description: 'Hash of the config that was applied last.',
      max: 64,
    }).optional(),
    image: text({ description: 'Image of the pods.', max: 512 }).optional(),
    selector: text({
      description: 'Selector of the pods, for the scale subresource.',
      max: 2048,
    }).optional(),
    replicas: count('Pods that exist.').optional(),
    updatedReplicas: count('Pods of the newest revision.').optional(),
    readyReplicas: count('Pods that are ready.').optional(),
    availableReplicas: count('Pods that have been ready for long enough.').optional(),
    listeners: list(listener, {
      description: 'The listeners, as they were programmed.',
      max: 64,
      kind: ['name'],
    }).optional(),
    summary: object(
      {
        replicas: text({ description: 'Ready pods, of those wanted.', max: 16 }).optional(),
        providers: text({
          description: 'Providers in use, of those selected.',
          max: 16,
        }).optional(),
        listeners: count('How many listeners are open.').optional(),
      },
      { description: 'Figures for the columns of kubectl get.' },
    ).optional(),
  },
  { description: 'What the operator found. Written by the operator alone.' },
)

export type RpcRouterStatus = z.output<typeof rpcRouterStatus>

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
