// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { CustomResourceDefinition } from '../api/crd/definition.ts'
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { isList, isMap, type Json, type JsonMap, withoutNulls } from './read-documents.ts'

/** One of our kinds: its definition for the API server, and the underlying schema. */
export interface Kind<T> {
  readonly definition: CustomResourceDefinition
  readonly schema: z.ZodType<T>
}

/** A new object as the API server would store it, or what is wrong with it. */
export type Admitted<T> = { readonly object: T } | { readonly faults: readonly string[] }

/**
 * Validates a new object against its CustomResourceDefinition: unknown fields, types, limits,
 * patterns and duplicate items. Only the API server evaluates CEL rules.
 */
export function admit<T>({ schema, definition }: Kind<T>, manifest: JsonMap): Admitted<T> {
  // The API server drops a status that a client sends.
  const written = withoutNulls({ ...manifest, status: null })
  const structure = definition.spec.versions[0].schema.openAPIV3Schema
  const unknown = unknownFields(nodesIn({ path: '', schema: structure, value: written }))
  if (unknown.length > 0) return { faults: unknown }
  const parsed = schema.safeParse(written)
  if (!parsed.success)
    return { faults: parsed.error.issues.map((issue) => faultOf(issue, written)) }
  const faults = duplicates(nodesIn({ path: '', schema: structure, value: parsed.data as Json }))
  return faults.length === 0 ? { object: parsed.data } : { faults }
}

/** A value in an object, with its schema. */
interface SchemaNode {
  /** Path such as `spec.endpoints[0].port`; empty for the whole object. */
  readonly path: string
  readonly schema: StructuralSchema
  readonly value: Json
}

/** Returns a value and all nested values that the schema defines. */
function nodesIn(node: SchemaNode): readonly SchemaNode[] {
  return [node, ...childrenOf(node).flatMap(nodesIn)]
}

function childrenOf({ path, schema, value }: SchemaNode): readonly SchemaNode[] {
  const { items, properties, additionalProperties: entry } = schema
  if (isList(value) && items !== undefined)
    return value.map((item, at) => ({ path: `${path}[${at}]`, schema: items, value: item }))
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([name, field]): readonly SchemaNode[] => {
    const known = properties?.[name]
    if (known !== undefined) return [{ path: fieldOf(path, name), schema: known, value: field }]
    return entry === undefined ? [] : [{ path: `${path}[${name}]`, schema: entry, value: field }]
  })
}

function unknownFields(nodes: readonly SchemaNode[]): readonly string[] {
  return nodes.flatMap(({ path, schema, value }) => {
    const { properties, additionalProperties } = schema
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
    if (properties === undefined || additionalProperties || isOpen || !isMap(value)) return []
    return Object.keys(value)
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => `unknown field "${fieldOf(path, name)}"`)
  })
}

/** Reports duplicate items in lists whose items, or their keys, must be unique. */
function duplicates(nodes: readonly SchemaNode[]): readonly string[] {
  return nodes.flatMap(({ path, schema, value }) => {
    const kind = schema['x-kubernetes-list-type']
    if (!isList(value) || (kind !== 'map' && kind !== 'set')) return []
    const keys = schema['x-kubernetes-list-map-keys']
    const by = keys === undefined ? '' : `, by ${keys.join(', ')}`
    const identities = value.map((item) =>
      keys && isMap(item) ? keys.map((key) => item[key]) : item,
    )
    return identities.flatMap((identity, at) => {
      const isAgain = identities.slice(0, at).some((other) => isDeepStrictEqual(other, identity))
      return isAgain ? [line(`${path}[${at}]`, `must not occur twice in the list${by}`)] : []
    })
  })
}

const wordHint =
  '. YAML reads yes, no, on, off, y and n without quotes as true or false: write a text in quotes'

function faultOf({ path, message }: z.core.$ZodIssue, object: Json): string {
  const value = path.reduce<unknown>(
    (within, key) => (within as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key],
    object,
  )
  const at = path.reduce<string>(
    (before, key) => (typeof key === 'number' ? `${before}[${key}]` : fieldOf(before, String(key))),
    '',
  )
  return line(at, typeof value === 'boolean' ? `${message}${wordHint}` : message)
}

function fieldOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function line(path: string, message: string): string {
  return path === '' ? message : `${path}: ${message}`
}
