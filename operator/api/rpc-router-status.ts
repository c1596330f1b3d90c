// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { conditions, observedGeneration } from './condition.ts'
import { integer, list, object, text } from './field.ts'

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
