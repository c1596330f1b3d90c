// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { isList, isMap, type Json, type JsonMap } from './fault.ts'

/** A value as the API server would store it: with its defaults, and without nulls, which mean that nothing is set. */
export function defaulted(schema: StructuralSchema | undefined, value: Json): Json {
  if (schema === undefined) return value
  if (isList(value)) return value.map((item) => defaulted(schema.items, item))
  if (!isMap(value)) return value
  const { properties = {}, additionalProperties } = schema
  const filled: JsonMap = { ...defaultsOf(schema), ...withoutNulls(schema, value) }
  return Object.fromEntries(
    Object.entries(filled).map(([name, inner]) => [
      name,
      defaulted(properties[name] ?? additionalProperties, inner),
    ]),
  )
}

function defaultsOf({ properties = {} }: StructuralSchema): JsonMap {
  const values = Object.entries(properties).map(([name, field]) => [name, field.default] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as JsonMap
}

function withoutNulls({ properties = {}, additionalProperties }: StructuralSchema, value: JsonMap) {
  const isKnown = (name: string) => (properties[name] ?? additionalProperties) !== undefined
  const kept = Object.entries(value).filter(([name, inner]) => inner !== null || !isKnown(name))
  return Object.fromEntries(kept)
}
