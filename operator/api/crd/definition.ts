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

/** A column of `kubectl get`; a `wide` column needs `-o wide`. */
type Column = readonly [
  name: string,
  type: 'string' | 'integer' | 'date',
  jsonPath: string,
  description: string,
  wide?: 'wide',
]

interface KindDefinition {
  readonly names: KindNames
  readonly schema: z.ZodType
  readonly columns: readonly Column[]
  /** Paths of the scale subresource. */
  readonly scale?: Readonly<Record<string, string>>
  /** Paths for `kubectl get --field-selector`. */
  readonly selectableFields?: readonly string[]
}

/** The fields of an apiextensions.k8s.io/v1 CustomResourceDefinition that we use. */
export type CustomResourceDefinition = ReturnType<typeof customResourceDefinition>

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
const age: Column = ['Age', 'date', '.metadata.creationTimestamp', 'Time since its creation.']
const reason: Column = ['Reason', 'string', reasonPath, 'Reason of the condition Ready.', 'wide']

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
      ['Replicas', 'string', summaryOf('replicas'), 'Ready pods of those wanted.'],
      ['Providers', 'string', summaryOf('providers'), 'Accepted providers of those selected.'],
      ['Listeners', 'string', summaryOf('serving'), 'Listeners that serve of those configured.'],
      reason,
      ['Config', 'string', '.status.configHash', 'Hash of the last applied config.', 'wide'],
      ['Image', 'string', '.status.image', 'Image of the pods.', 'wide'],
      age,
    ],
  })
}

export function upstreamProviderDefinition() {
  const ready = 'Whether a router uses the provider and its node is not known to be unusable.'
  const routers = 'Routers that use the provider of those that select it.'
  const selectable = ['chainId', 'apiInterface', 'tier', 'groupLabel', 'upstreamName']
  return customResourceDefinition({
    names: upstreamProviderNames,
    schema: upstreamProviderSchema,
    selectableFields: selectable.map((field) => `.spec.${field}`),
    columns: [
      ['Chain', 'string', '.spec.chainId', 'Chain of the upstream.'],
      ['Interface', 'string', '.spec.apiInterface', 'Interface of the upstream.'],
      ['Ready', 'string', readyPath, ready],
      ['Healthy', 'string', healthyPath, 'Whether the node works, as observed by the pods.'],
      ['Routers', 'string', summaryOf('routers'), routers],
      ['Urls', 'integer', summaryOf('urls'), 'Number of URLs.', 'wide'],
      ['Group', 'string', '.spec.groupLabel', 'Group label.', 'wide'],
      reason,
      age,
    ],
  })
}
