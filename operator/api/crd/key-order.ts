// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StructuralSchema } from './structural-schema.ts'

/** What a reader wants first: what the field means, then what it takes, then what is inside of it. */
const first = ['description', 'type', 'format', 'enum', 'default']
const last = ['required', 'properties', 'items', 'additionalProperties']

/** The same schema with its keys in the order in which people read. */
export function inReadingOrder(schema: StructuralSchema): StructuralSchema {
  const { properties, items, additionalProperties } = schema
  const whole = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, inReadingOrder(field)]),
      ),
    }),
    ...(items && { items: inReadingOrder(items) }),
    ...(additionalProperties && { additionalProperties: inReadingOrder(additionalProperties) }),
  }
  const byPlace = Object.entries(whole).toSorted(([a], [b]) => placeOf(a) - placeOf(b))
  return Object.fromEntries(byPlace)
}

function placeOf(key: string): number {
  const early = first.indexOf(key)
  return early === -1 ? first.length + 1 + last.indexOf(key) : early
}
