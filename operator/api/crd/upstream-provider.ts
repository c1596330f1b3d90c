// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { upstreamProviderNames } from '../group.ts'
import { upstreamProviderSchema } from '../upstream-provider.ts'
import { column, customResourceDefinition } from './definition.ts'

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
      column('Chain', 'string', '.spec.chainId', 'Chain that it serves.'),
      column('Interface', 'string', '.spec.apiInterface', 'Interface that it serves.'),
      column(
        'Ready',
        'string',
        '.status.conditions[?(@.type=="Ready")].status',
        'Whether a router runs with it.',
      ),
      column(
        'Routers',
        'string',
        '.status.summary.routers',
        'Routers that run with it, of those that select it.',
      ),
      column('Urls', 'integer', '.status.summary.urls', 'How many URLs it has.', 1),
      column('Group', 'string', '.spec.groupLabel', 'Its group label.', 1),
      column(
        'Reason',
        'string',
        '.status.conditions[?(@.type=="Ready")].reason',
        'Why it is ready or not.',
        1,
      ),
      column('Age', 'date', '.metadata.creationTimestamp', 'Time since it was created.'),
    ],
  })
}
