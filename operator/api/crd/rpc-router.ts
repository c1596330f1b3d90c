// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rpcRouterNames } from '../group.ts'
import { rpcRouterSchema } from '../rpc-router.ts'
import { customResourceDefinition } from './definition.ts'

/** The CustomResourceDefinition of RpcRouter. */
export function rpcRouterDefinition() {
  return customResourceDefinition({
    names: rpcRouterNames,
    schema: rpcRouterSchema,
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
    selectableFields: ['.spec.portRange', '.spec.service.type'],
    columns: [
      {
        name: 'Ready',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        description: 'Whether the newest generation serves.',
      },
      {
        name: 'Replicas',
        type: 'string',
        jsonPath: '.status.summary.replicas',
        description: 'Ready pods, of those wanted.',
      },
      {
        name: 'Providers',
        type: 'string',
        jsonPath: '.status.summary.providers',
        description: 'Accepted providers, of those selected.',
      },
      {
        name: 'Listeners',
        type: 'integer',
        jsonPath: '.status.summary.listeners',
        description: 'How many listeners there are.',
      },
      {
        name: 'Reason',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
        description: 'Why it is ready or not.',
        priority: 1,
      },
      {
        name: 'Config',
        type: 'string',
        jsonPath: '.status.configHash',
        description: 'Hash of the config that was applied last.',
        priority: 1,
      },
      {
        name: 'Image',
        type: 'string',
        jsonPath: '.status.image',
        description: 'Image of the pods.',
        priority: 1,
      },
      {
        name: 'Age',
        type: 'date',
        jsonPath: '.metadata.creationTimestamp',
        description: 'Time since it was created.',
      },
    ],
  })
}
