// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { category, group, type KindNames, version } from '../group.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly jsonPath: string
  readonly description: string
  /** 1 for a column that only `-o wide` shows. */
  readonly priority?: 0 | 1
}

export function column(
  name: string,
  type: PrinterColumn['type'],
  jsonPath: string,
  description: string,
  priority: 0 | 1 = 0,
): PrinterColumn {
  return { name, type, jsonPath, description, ...(priority === 1 && { priority }) }
}

/** Where the scale subresource finds its figures. */
interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath: string
}

/** What a CustomResourceDefinition is made of. */
interface KindDefinition {
  readonly names: KindNames
  readonly schema: z.ZodType
  readonly columns: readonly PrinterColumn[]
  readonly scale: ScalePaths | null
  /** Fields that `kubectl get --field-selector` can select by. */
  readonly selectableFields: readonly string[]
}

/** A CustomResourceDefinition of apiextensions.k8s.io/v1, as far as we fill it in. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: {
      readonly kind: string
      readonly listKind: string
      readonly plural: string
      readonly singular: string
      readonly shortNames: readonly string[]
      readonly categories: readonly string[]
    }
    readonly scope: 'Namespaced'
    readonly versions: readonly [
      {
        readonly name: string
        readonly served: true
        readonly storage: true
        readonly schema: { readonly openAPIV3Schema: StructuralSchema }
        readonly subresources: { readonly status: object; readonly scale?: ScalePaths }
        readonly selectableFields: readonly { readonly jsonPath: string }[]
        readonly additionalPrinterColumns: readonly PrinterColumn[]
      },
    ]
  }
}

/** The CustomResourceDefinition of a kind. */
export function customResourceDefinition(of: KindDefinition): CustomResourceDefinition {
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
          selectableFields: of.selectableFields.map((jsonPath) => ({ jsonPath })),
          additionalPrinterColumns: of.columns,
        },
      ],
    },
  }
}
