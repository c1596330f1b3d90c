// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { fieldOf, isList, isMap, type Json } from './fault.ts'

/** A value inside of another, with its own schema. */
export interface Child {
  readonly path: string
  readonly schema: StructuralSchema
  readonly value: Json
}

/** The fields, the items or the values of a value that a schema knows. */
export function childrenOf({ path, schema, value }: Child): readonly Child[] {
  if (isList(value)) {
    const { items } = schema
    if (items === undefined) return []
    return value.map((item, index) => ({ path: `${path}[${index}]`, schema: items, value: item }))
  }
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([name, inner]): readonly Child[] => {
    const field = schema.properties?.[name]
    if (field !== undefined) return [{ path: fieldOf(path, name), schema: field, value: inner }]
    const entry = schema.additionalProperties
    return entry === undefined ? [] : [{ path: `${path}[${name}]`, schema: entry, value: inner }]
  })
}
