// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import {
  category,
  group,
  type KindNames,
  rpcRouterNames,
  upstreamProviderNames,
  version,
} from '../group.ts'
import { rpcRouterSchema } from '../rpc-router.ts'
import { upstreamProviderSchema } from '../upstream-provider.ts'
import { structuralSchema } from './structural-schema.ts'

/** A column of `kubectl get`; with `wide`, one that only `-o wide` shows. */
type Column = readonly [
  name: string,
  type: 'string' | 'integer' | 'date',
  jsonPath: string,
  description: string,
  wide?: 'wide',
]

/** What a CustomResourceDefinition is made of. */
interface KindDefinition {
  readonly names: KindNames
  readonly schema: z.ZodType
  readonly columns: readonly Column[]
  /** Where the scale subresource finds its figures. */
  readonly scale?: Readonly<Record<string, string>>
  /** Fields that `kubectl get --field-selector` can select by. */
  readonly selectableFields?: readonly string[]
}

/** A CustomResourceDefinition of apiextensions.k8s.io/v1, as far as we fill it in. */
export type CustomResourceDefinition = ReturnType<typeof customResourceDefinition>

/** The CustomResourceDefinition of a kind. */
export function customResourceDefinition(of: KindDefinition) {
  const { kind, plural, singular, shortName } = of.names
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: [category],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: structuralSchema(of.schema) },
          subresources: { status: {}, ...(of.scale && { scale: of.scale }) },
          ...(of.selectableFields && {
            selectableFields: of.selectableFields.map((jsonPath) => ({ jsonPath })),
          }),
          additionalPrinterColumns: of.columns.map(([name, type, jsonPath, description, wide]) => ({
            name,
            type,
            jsonPath,
            description,
            ...(wide && { priority: 1 }),
          })),
        },
      ],
    },
  } as const
}

const readyPath = '.status.conditions[?(@.type=="Ready")].status'
const reasonPath = '.status.conditions[?(@.type=="Ready")].reason'
const healthyPath = '.status.conditions[?(@.type=="Healthy")].status'
const summaryOf = (field: string) => `.status.summary.${field}`
const age: Column = ['Age', 'date', '.metadata.creationTimestamp', 'Time since it was created.']
const reason: Column = ['Reason', 'string', reasonPath, 'Why it is ready or not.', 'wide']

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
    columns: [
      ['Ready', 'string', readyPath, 'Whether the newest generation serves.'],
      ['Replicas', 'string', summaryOf('replicas'), 'Ready pods, of those wanted.'],
      ['Providers', 'string', summaryOf('providers'), 'Accepted providers, of those selected.'],
      ['Listeners', 'integer', summaryOf('listeners'), 'How many listeners there are.'],
      reason,
      ['Config', 'string', '.status.configHash', 'Hash of the config applied last.', 'wide'],
      ['Image', 'string', '.status.image', 'Image of the pods.', 'wide'],
      age,
    ],
  })
}

/** The CustomResourceDefinition of UpstreamProvider. */
export function upstreamProviderDefinition() {
  const ready = 'Whether a router runs with it, and its node is not known to be out of use.'
  const routers = 'Routers that run with it, of those that select it.'
  const selectable = ['chainId', 'apiInterface', 'tier', 'groupLabel', 'upstreamName']
  return customResourceDefinition({
    names: upstreamProviderNames,
    schema: upstreamProviderSchema,
    selectableFields: selectable.map((field) => `.spec.${field}`),
    columns: [
      ['Chain', 'string', '.spec.chainId', 'Chain that it serves.'],
      ['Interface', 'string', '.spec.apiInterface', 'Interface that it serves.'],
      ['Ready', 'string', readyPath, ready],
      ['Healthy', 'string', healthyPath, 'Whether its node works, as the pods see it.'],
      ['Routers', 'string', summaryOf('routers'), routers],
      ['Urls', 'integer', summaryOf('urls'), 'How many URLs it has.', 'wide'],
      ['Group', 'string', '.spec.groupLabel', 'Its group label.', 'wide'],
      reason,
      age,
    ],
  })
}
