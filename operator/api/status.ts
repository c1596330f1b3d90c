// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { integer, list, object, oneOf, text } from './field.ts'
import type { z } from 'zod'

/** Generations count from 1 and have 64 bits; a number of JavaScript is exact to here. */
const maxGeneration = Number.MAX_SAFE_INTEGER

/** The generation of the object that was looked at last. */
function observedGeneration() {
  return integer('The metadata.generation that this was derived from.', [0, maxGeneration])
}

const condition = object('One thing that is true, false or not known of the object.', {
  type: text('What is judged.', { example: 'Ready', max: 316 }),
  status: oneOf('Whether it holds.', ['True', 'False', 'Unknown'], 'True'),
  observedGeneration: observedGeneration().optional(),
  lastTransitionTime: text('When status changed last.', {
    example: '2026-01-31T03:00:00Z',
    max: 64,
  }).meta({ format: 'date-time' }),
  reason: text('One word for programs; docs/reference/conditions.md lists them all.', {
    example: 'Ready',
    max: 128,
    pattern: /^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$/,
  }),
  message: text('A sentence for users: what is wrong, where, and what would be right.', {
    min: 0,
    max: 32_768,
  }),
})

const conditions = list(
  'What holds of the object. docs/reference/conditions.md lists types and reasons.',
  condition,
  { max: 16, kind: ['type'] },
)

export type Condition = z.output<typeof condition>

const count = (description: string) => integer(description, [0, 10_000])

const listener = object('A listener that was programmed.', {
  name: text('Name of the endpoint.', { max: 15 }),
  port: integer('Its port.', [1, 65_535]),
  chainId: text('Chain that it serves.', { max: 64 }),
  apiInterface: text('Interface that it serves.', { max: 32 }),
  url: text('Where clients in the cluster reach it.', { max: 512 }).optional(),
  providers: count('Accepted providers that serve it.'),
})

export const rpcRouterStatus = object('What the operator found. Written by the operator alone.', {
  observedGeneration: observedGeneration().optional(),
  conditions: conditions.optional(),
  configHash: text('Hash of the config that was applied last.', { max: 64 }).optional(),
  image: text('Image of the pods.', { max: 512 }).optional(),
  selector: text('Selector of the pods, for the scale subresource.', { max: 2048 }).optional(),
  replicas: count('Pods that exist.').optional(),
  updatedReplicas: count('Pods of the newest revision.').optional(),
  readyReplicas: count('Pods that are ready.').optional(),
  availableReplicas: count('Pods that have been ready for long enough.').optional(),
  listeners: list('The listeners, as they were programmed.', listener, {
    max: 64,
    kind: ['name'],
  }).optional(),
  autoscaling: object('What the HorizontalPodAutoscaler says. Unset without one.', {
    desiredReplicas: count('How many pods it wants.').optional(),
    conditions: conditions.optional(),
  }).optional(),
  summary: object('Figures for the columns of kubectl get.', {
    replicas: text('Ready pods, of those wanted.', { max: 16 }).optional(),
    providers: text('Providers in use, of those selected.', { max: 16 }).optional(),
    listeners: count('How many listeners are open.').optional(),
  }).optional(),
})

export type RpcRouterStatus = z.output<typeof rpcRouterStatus>

const routerEntry = object('A router that selects it.', {
  name: text('Name of the RpcRouter.', { max: 253 }),
  conditions: conditions.optional(),
})

export const upstreamProviderStatus = object(
  'What the operator found. Written by the operator alone.',
  {
    observedGeneration: observedGeneration().optional(),
    conditions: conditions.optional(),
    routers: list('The routers that select it, and what each made of it.', routerEntry, {
      max: 256,
      kind: ['name'],
    }).optional(),
    summary: object('Figures for the columns of kubectl get.', {
      routers: text('Routers that run with it, of those that select it.', { max: 16 }).optional(),
      urls: integer('How many URLs it has.', [0, 16]).optional(),
    }).optional(),
  },
)

export type UpstreamProviderStatus = z.output<typeof upstreamProviderStatus>
