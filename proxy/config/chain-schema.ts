// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { JsonSchema } from './json-schema.ts'

const chainKey = 'chain-id'
const anyEvm = '^[Ee][Vv][Mm]:[1-9][0-9]*$'
const placeholder = '\\$[{<]'

/**
 * A config schema that accepts only known chains, unless the config names specs of its own with
 * `use-static-spec`.
 * @param names ids, aliases and names of the bundled chains
 */
export function withChains(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const chain = {
    anyOf: [
      { enum: names },
      { pattern: `^(?:${names.map(inAnyCase).join('|')})$` },
      { pattern: anyEvm },
      { pattern: placeholder },
    ],
  }
  const then = whereChainsAre(schema, { $ref: '#/definitions/chain' })
  const isBundled = { not: { required: ['use-static-spec'] } }
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and no function.
  return { ...schema, if: isBundled, then, definitions: { chain } }
}

/** The sections of a schema that have a chain, with a schema for that chain; null without any. */
function whereChainsAre(schema: JsonSchema, chain: object): object | null {
  const items = schema.items ? whereChainsAre(schema.items, chain) : null
  const found = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const inside = name === chainKey ? chain : whereChainsAre(each, chain)
    return inside === null ? [] : [[name, inside] as const]
  })
  if (items === null && found.length === 0) return null
  const properties = found.length > 0 && { properties: Object.fromEntries(found) }
  return { ...(items && { items }), ...properties }
}

/** A pattern for a name. JSON Schema has no flag that ignores letter case. */
function inAnyCase(name: string): string {
  return name
    .replaceAll('.', '\\.')
    .replaceAll(' ', '[ -]')
    .replaceAll(/[a-z]/gi, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`)
}
