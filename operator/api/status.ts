// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { integer, list, object, oneOf, text } from './field.ts'
import type { z } from 'zod'

/** Generations have 64 bits, but JavaScript is not exact beyond this. */
const maxGeneration = Number.MAX_SAFE_INTEGER

/** The last observed generation of the object. */
function observedGeneration() {
  return integer('The observed metadata.generation.', [0, maxGeneration])
}

const condition = object('A condition of the object.', {
  type: text('Type of the condition.', { example: 'Ready', max: 316 }),
  status: oneOf('Status of the condition.', ['True', 'False', 'Unknown'], 'True'),
  observedGeneration: observedGeneration().optional(),
  lastTransitionTime: text('Time of the last change of the status.', {
    example: '2026-01-31T03:00:00Z',
    max: 64,
  }).meta({ format: 'date-time' }),
  reason: text('Reason in CamelCase; docs/reference/conditions.md lists all.', {
    example: 'Ready',
    max: 128,
    pattern: /^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$/,
  }),
  message: text('Message for users: the fault, its location and the remedy.', {
    min: 0,
    max: 32_768,
  }),
})

const conditions = list(
  'Conditions of the object. docs/reference/conditions.md lists types and reasons.',
  condition,
  { max: 16, kind: ['type'] },
)

export type Condition = z.output<typeof condition>

const count = (description: string) => integer(description, [0, 10_000])

const listener = object('A configured listener.', {
  name: text('Name of the endpoint.', { max: 15 }),
  port: integer('Its port.', [1, 65_535]),
  chainId: text('Chain of the endpoint.', { max: 64 }),
  apiInterface: text('Interface of the endpoint.', { max: 32 }),
  url: text('URL for clients in the cluster.', { max: 512 }).optional(),
  providers: count('Accepted providers that serve it.'),
  serving: text('Upstreams that serve, of those that the pods have, such as 1/2.', {
    max: 16,
  }).optional(),
  message: text('Why the other upstreams do not serve, as the pods report it.', {
    max: 2048,
  }).optional(),
})

export const rpcRouterStatus = object('Observed state. Only the operator writes it.', {
  observedGeneration: observedGeneration().optional(),
  conditions: conditions.optional(),
  configHash: text('Hash of the last applied config.', { max: 64 }).optional(),
  image: text('Image of the pods.', { max: 512 }).optional(),
  selector: text('Selector of the pods, for the scale subresource.', { max: 2048 }).optional(),
  replicas: count('Existing pods.').optional(),
  updatedReplicas: count('Pods with the newest revision.').optional(),
  readyReplicas: count('Ready pods.').optional(),
  availableReplicas: count('Available pods: ready for at least minReadySeconds.').optional(),
  listeners: list('The configured listeners.', listener, {
    max: 64,
    kind: ['name'],
  }).optional(),
  autoscaling: object('Status of the HorizontalPodAutoscaler. Unset without one.', {
    desiredReplicas: count('Number of pods that it wants.').optional(),
    conditions: conditions.optional(),
  }).optional(),
  summary: object('Values for the columns of kubectl get.', {
    replicas: text('Ready pods of those wanted.', { max: 16 }).optional(),
    providers: text('Providers in use of those selected.', { max: 16 }).optional(),
    listeners: count('Number of open listeners.').optional(),
    serving: text('Listeners that serve of those configured.', { max: 16 }).optional(),
  }).optional(),
})

export type RpcRouterStatus = z.output<typeof rpcRouterStatus>

const routerEntry = object('A router that selects the provider.', {
  name: text('Name of the RpcRouter.', { max: 253 }),
  conditions: conditions.optional(),
})

export const upstreamProviderStatus = object('Observed state. Only the operator writes it.', {
  observedGeneration: observedGeneration().optional(),
  conditions: conditions.optional(),
  routers: list('Results of the routers that select the provider.', routerEntry, {
    max: 256,
    kind: ['name'],
  }).optional(),
  summary: object('Values for the columns of kubectl get.', {
    routers: text('Routers that use the provider of those that select it.', { max: 16 }).optional(),
    urls: integer('Number of URLs.', [0, 16]).optional(),
  }).optional(),
})

export type UpstreamProviderStatus = z.output<typeof upstreamProviderStatus>
