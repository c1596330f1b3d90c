// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { type Rule, rulesKeyword, withName } from '../field.ts'
import { kubeYamlLine, needsQuotes, type YamlValue } from './kube-yaml.ts'

/** A structural OpenAPI v3 schema, as CustomResourceDefinitions require. */
export interface StructuralSchema {
  description?: string
  type?: string
  format?: string
  enum?: readonly unknown[]
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  items?: StructuralSchema
  properties?: Record<string, StructuralSchema>
  required?: readonly string[]
  additionalProperties?: StructuralSchema
  anyOf?: readonly StructuralSchema[]
  [rulesKeyword]?: readonly Rule[]
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-type'?: string
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-map-type'?: string
  'x-kubernetes-preserve-unknown-fields'?: boolean
}

/** zod's JSON Schema, including keywords that the API server rejects. */
interface ZodJsonSchema extends StructuralSchema {
  $schema?: string
  example?: unknown
  default?: unknown
  propertyNames?: unknown
}

/**
 * Converts the schema of a kind to a structural schema.
 * @throws Error if a structural schema cannot express the zod schema
 */
export function structuralSchema(kind: z.ZodType): StructuralSchema {
  // Copies the schema, so that no two nodes are the same object.
  const tree = JSON.parse(JSON.stringify(z.toJSONSchema(kind, { io: 'input' }))) as ZodJsonSchema
  delete tree.$schema
  tree.properties = { ...tree.properties, ...metaFields() }
  shape(tree, '')
  return tree
}

/** Fields of every object, which the API server validates itself. */
function metaFields(): Record<string, StructuralSchema> {
  return {
    apiVersion: {
      type: 'string',
      maxLength: 317,
      description: 'Group and version of the schema that this object follows.',
    },
    kind: { type: 'string', maxLength: 63, description: 'Kind of this object.' },
    metadata: { type: 'object' },
  }
}

/** Makes the schema of a field structural, in place. */
function shape(schema: ZodJsonSchema, name: string): void {
  if (schema['x-kubernetes-int-or-string'] === true) {
    schema.anyOf = [{ type: 'integer' }, { type: 'string' }]
    schema.maxLength = 32
  } else if (schema.anyOf !== undefined) {
    throw new Error(`a structural schema has no anyOf: ${schema.description ?? ''}`)
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) delete schema.additionalProperties
  // A rule with a readable message replaces the pattern.
  if (schema.type === 'string' && schema[rulesKeyword] !== undefined) delete schema.pattern
  if (schema.type === 'integer') schema.format = integerFormat(schema.maximum)
  if (schema.description !== undefined) schema.description = describe(schema)
  delete schema.propertyNames
  delete schema.example
  for (const [inner, field] of Object.entries(schema.properties ?? {})) shape(field, inner)
  for (const inner of [schema.items, schema.additionalProperties])
    if (inner !== undefined) shape(inner, name)
  const rules = schema[rulesKeyword]
  if (rules !== undefined)
    schema[rulesKeyword] = rules.map((each) => ({
      ...{ ...each, rule: withDefaults(each.rule, schema) },
      message: withName(each.message, name),
    }))
  // The operator fills in defaults when it reads an object, so that the API server stores what the
  // user applied, and a repeated apply changes nothing.
  for (const field of Object.values<ZodJsonSchema>(schema.properties ?? {})) delete field.default
  orderKeys(schema)
}

/** Lets a rule read the default of an unset field: `self.port` is then `self.?port.orValue(1)`. */
function withDefaults(rule: string, schema: ZodJsonSchema): string {
  const properties: Readonly<Record<string, ZodJsonSchema>> = schema.properties ?? {}
  return rule.replaceAll(/\bself\.(\w+)\b/g, (read, name: string) => {
    const value = properties[name]?.default
    const isChecked = rule.includes(`has(self.${name})`)
    if (isChecked || value === undefined || typeof value === 'object') return read
    return `self.?${name}.orValue(${JSON.stringify(value)})`
  })
}

const maxInt32 = 2 ** 31 - 1

function integerFormat(maximum = Infinity): string {
  return maximum <= maxInt32 ? 'int32' : 'int64'
}

/** Returns the description of a field for `kubectl explain`, with its example and default. */
function describe({ description = '', example, default: value }: ZodJsonSchema): string {
  // kubectl explain does not show examples and defaults by itself.
  const shown = example !== undefined && JSON.stringify(example) !== JSON.stringify(value)
  const isScalar = value !== undefined && typeof value !== 'object'
  return [
    description,
    ...(shown ? [`Example: ${inline(example)}`] : []),
    ...(isScalar ? [`Default: ${inline(value)}`] : []),
  ].join('\n')
}

/** Formats a value as one line of YAML, with quotes only around ambiguous strings. */
function inline(value: unknown): string {
  if (typeof value === 'string' && !needsQuotes(value)) return value
  return kubeYamlLine(value as YamlValue)
}

/** Order for readers: description, type, then nested fields. */
const first = ['description', 'type', 'format', 'enum']
const last = ['required', 'properties', 'items', 'additionalProperties']

function orderKeys(schema: StructuralSchema): void {
  const entries = Object.entries(schema).toSorted(([a], [b]) => rankOf(a) - rankOf(b))
  for (const key of Object.keys(schema)) delete (schema as Record<string, unknown>)[key]
  Object.assign(schema, Object.fromEntries(entries))
}

function rankOf(key: string): number {
  const early = first.indexOf(key)
  return early === -1 ? first.length + 1 + last.indexOf(key) : early
}
