// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rpcRouterNames } from '../group.ts'
import { rpcRouterSchema } from '../rpc-router.ts'
import { column, customResourceDefinition } from './definition.ts'

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
      column(
        'Ready',
        'string',
        '.status.conditions[?(@.type=="Ready")].status',
        'Whether the newest generation serves.',
      ),
      column('Replicas', 'string', '.status.summary.replicas', 'Ready pods, of those wanted.'),
      column(
        'Providers',
        'string',
        '.status.summary.providers',
        'Accepted providers, of those selected.',
      ),
      column('Listeners', 'integer', '.status.summary.listeners', 'How many listeners there are.'),
      column(
        'Reason',
        'string',
        '.status.conditions[?(@.type=="Ready")].reason',
        'Why it is ready or not.',
        1,
      ),
      column(
        'Config',
        'string',
        '.status.configHash',
        'Hash of the config that was applied last.',
        1,
      ),
      column('Image', 'string', '.status.image', 'Image of the pods.', 1),
      column('Age', 'date', '.metadata.creationTimestamp', 'Time since it was created.'),
    ],
  })
}
