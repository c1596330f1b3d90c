// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { upstreamProviderNames } from '../group.ts'
import { upstreamProviderSchema } from '../upstream-provider.ts'
import { customResourceDefinition } from './definition.ts'

/** The CustomResourceDefinition of UpstreamProvider. */
export function upstreamProviderDefinition() {
  return customResourceDefinition({
    names: upstreamProviderNames,
    schema: upstreamProviderSchema,
    scale: null,
    selectableFields: [
      '.spec.chainId',
      '.spec.apiInterface',
      '.spec.tier',
      '.spec.groupLabel',
      '.spec.upstreamName',
    ],
    columns: [
      {
        name: 'Chain',
        type: 'string',
        jsonPath: '.spec.chainId',
        description: 'Chain that it serves.',
      },
      {
        name: 'Interface',
        type: 'string',
        jsonPath: '.spec.apiInterface',
        description: 'Interface that it serves.',
      },
      {
        name: 'Ready',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        description: 'Whether a router runs with it.',
      },
      {
        name: 'Routers',
        type: 'string',
        jsonPath: '.status.summary.routers',
        description: 'Routers that run with it, of those that select it.',
      },
      {
        name: 'Urls',
        type: 'integer',
        jsonPath: '.status.summary.urls',
        description: 'How many URLs it has.',
        priority: 1,
      },
      {
        name: 'Group',
        type: 'string',
        jsonPath: '.spec.groupLabel',
        description: 'Its group label.',
        priority: 1,
      },
      {
        name: 'Reason',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
        description: 'Why it is ready or not.',
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
