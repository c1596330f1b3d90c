// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { bareKeyword } from './cross-validation.ts'
import { derivedKeyword, kindKeyword } from './fields/field.ts'
import { configSchema } from './schema.ts'

/** The subset of JSON Schema that describes a config file. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly default?: unknown
  /** Private keyword: the default, as written in a file. */
  readonly 'x-default'?: string
  /** Private keyword: the default of a key that the router derives. */
  readonly 'x-derived'?: string
  /** Private keyword: the kind of value, as readers see it. */
  readonly 'x-kind'?: string
}

/** Names the schema; nothing is fetched from there. */
const schemaId = 'https://rpcrouter.dev/config.schema.json'

let annotated: JsonSchema | undefined

/** The file's schema with private keywords, for the reference and for suggestions. */
export function annotatedSchema(): JsonSchema {
  return (annotated ??= z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    reused: 'inline',
    override({ jsonSchema: { required, properties = {} } }) {
      for (const [name, each] of Object.entries(properties))
        if (required && typeof each === 'object' && derivedKeyword in each)
          required.splice(required.indexOf(name), 1)
    },
  }) as JsonSchema)
}

/** JSON Schema of a config file in draft 7, which the YAML servers of editors support best. */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...rest } = plain(annotatedSchema())
  return { $schema, $id: schemaId, title: 'rpc-router configuration', ...rest }
}

/** Replaces private keywords with standard ones. */
function plain(schema: JsonSchema): JsonSchema {
  const { [kindKeyword]: _kind, 'x-default': defaultText, properties, items, ...own } = schema
  const { [bareKeyword]: bare, [derivedKeyword]: _derived, ...rest } = own
  const result: Record<string, unknown> = rest
  if (defaultText !== undefined) result['default'] = typed(defaultText, schema['type'])
  if (properties !== undefined) {
    const entries = Object.entries(properties).map(([name, each]) => [name, plain(each)])
    result['properties'] = Object.fromEntries(entries)
  }
  const alone = typeof bare === 'string' ? properties?.[bare] : undefined
  if (alone !== undefined) {
    const { description, ...map } = result
    const own = typeof description === 'string' ? { description } : {}
    return { ...own, anyOf: [map, plain(alone)] }
  }
  if (items === undefined) return result
  const item = plain(items)
  if (items.properties !== undefined) return { ...result, items: item }
  // A list may be written as a single value.
  const { type, minItems, ...shared } = result
  return { ...shared, anyOf: [{ type, minItems, items: item }, item] }
}

function typed(text: string, type: unknown): unknown {
  if (type === 'integer') return Number(text)
  if (type === 'boolean') return text === 'true'
  return text
}

/** Schema of the section at a path; undefined if there is none. */
export function sectionAt(
  schema: JsonSchema,
  path: readonly (string | number)[],
): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>(
    (section, part) => (typeof part === 'number' ? section?.items : section?.properties?.[part]),
    schema,
  )
}
