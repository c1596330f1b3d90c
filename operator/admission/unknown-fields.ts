// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { type Child, childrenOf } from './children.ts'
import { fieldOf, isMap, type Json } from './fault.ts'

/** Fields that a schema does not know: the API server refuses them by kubectl, and else drops them. */
export function unknownFields(schema: StructuralSchema, value: Json): readonly string[] {
  return below({ path: '', schema, value })
}

function below(at: Child): readonly string[] {
  const { path, schema, value } = at
  const { properties = {}, additionalProperties } = schema
  const takesAll =
    additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true
  const own =
    takesAll || !isMap(value)
      ? []
      : Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
  return [...own.map((name) => fieldOf(path, name)), ...childrenOf(at).flatMap(below)]
}
