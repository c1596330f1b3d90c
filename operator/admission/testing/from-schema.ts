// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { rulesKeyword } from '../../api/field.ts'
import type { StructuralSchema } from '../../api/crd/structural-schema.ts'
import { textLength } from '../../api/text-length.ts'
import { isList, isMap, type Json, type JsonMap } from '../fault.ts'

/*
 * Values for property tests, made of nothing but a schema of a CustomResourceDefinition.
 */

/** A schema whose rules about the form of one text stand as its pattern, so that they count as bounds. */
export function withPatterns(schema: StructuralSchema): StructuralSchema {
  const { properties, items, additionalProperties } = schema
  const rules = (schema[rulesKeyword] ?? []).map(({ rule }) => rule)
  const form = /^(?:type\(self\) == int \? self >= (\d+) : )?self\.matches\(r(['"])(.*)\2\)$/
  const [, least, , pattern] = rules.map((rule) => form.exec(rule)).find(Boolean) ?? []
  return {
    ...schema,
    ...(pattern !== undefined && { pattern }),
    ...(least !== undefined && { minimum: Number(least) }),
    ...(items && { items: withPatterns(items) }),
    ...(additionalProperties && { additionalProperties: withPatterns(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withPatterns(field)]),
      ),
    }),
  }
}

/** Makes values of schemas; what is dear to make, the texts of a pattern, is made once. */
export class SchemaValues {
  readonly #texts = new Map<string, fc.Arbitrary<string>>()

  /** Values within the bounds of a schema. */
  within(schema: StructuralSchema): fc.Arbitrary<Json> {
    if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as readonly string[]))
    if (schema['x-kubernetes-int-or-string'] === true)
      return fc.oneof(fc.nat(100), this.#text(schema))
    switch (schema.type) {
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return fc.integer({
          min: Math.max(schema.minimum ?? 0, -(2 ** 31)),
          max: Math.min(schema.maximum ?? 0, 2 ** 31 - 1),
        })
      case 'string':
        return this.#text(schema)
      case 'array': {
        const minLength = schema.minItems ?? 0
        const maxLength = Math.max(minLength, Math.min(schema.maxItems ?? 3, 3))
        return fc.array(this.within(schema.items ?? {}), { minLength, maxLength })
      }
      default:
        return this.#map(schema)
    }
  }

  #map({ properties, required = [], additionalProperties }: StructuralSchema) {
    if (additionalProperties !== undefined) {
      const key = fc.stringMatching(/^[a-z]{1,8}$/)
      return fc.dictionary(key, this.within(additionalProperties), { maxKeys: 3 })
    }
    const fields = Object.entries(properties ?? {}).map(([name, field]) => {
      const value = this.within(field)
      return [name, required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 1 })]
    })
    const record = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<Json>>)
    return record.map(withoutGaps)
  }

  #text({ pattern = '', minLength = 0, maxLength = 64 }: StructuralSchema): fc.Arbitrary<string> {
    const key = `${minLength} ${maxLength} ${pattern}`
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const texts =
      pattern === ''
        ? fc.string({ minLength, maxLength })
        : fc
            .stringMatching(new RegExp(pattern), { size: 'small' })
            .filter((text) => textLength(text) >= minLength && textLength(text) <= maxLength)
    this.#texts.set(key, texts)
    return texts
  }

  /** A value in which one place, wherever it is, has an odd value or none. */
  spoiled(schema: StructuralSchema, value: Json): fc.Arbitrary<Json> {
    const odd = fc
      .constantFrom(...placesIn(schema, value))
      .chain((place) =>
        fc
          .option(fc.constantFrom(...oddValues(place.schema)), { nil: undefined, freq: 8 })
          .map((other) => replaced(value, place.keys, other)),
      )
    return odd.map((other) => other ?? null)
  }
}

function withoutGaps(map: Readonly<Record<string, Json | undefined>>): JsonMap {
  return Object.fromEntries(
    Object.entries(map).filter(([, value]) => value !== undefined),
  ) as JsonMap
}

/** Values at the bounds of a schema and beyond them, of its type and of others. */
function oddValues(schema: StructuralSchema): readonly Json[] {
  const { minLength = 0, maxLength = 64, minimum = 0, maximum = 0 } = schema
  const odd: Json[] = [null, true, 1.5, -1, 0, '', ' ', '\u00a0', '\n', 'a b', {}, [], [null]]
  odd.push(minimum, minimum - 1, maximum, maximum + 1)
  for (const letter of ['a', '1', '\u{1f600}'])
    for (const length of [minLength - 1, maxLength, maxLength + 1])
      odd.push(letter.repeat(Math.max(0, length)))
  const { maxItems, maxProperties } = schema
  const item = schema.items?.type === 'string' ? 'a' : {}
  if (maxItems !== undefined)
    for (const length of [maxItems, maxItems + 1]) odd.push(Array.from({ length }, () => item))
  if (maxProperties !== undefined)
    for (const length of [maxProperties, maxProperties + 1])
      odd.push(Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, '1'])))
  return odd
}

interface Place {
  readonly keys: readonly (string | number)[]
  readonly schema: StructuralSchema
}

function placesIn(
  schema: StructuralSchema,
  value: Json,
  keys: Place['keys'] = [],
): readonly Place[] {
  const inside = isList(value)
    ? value.flatMap((item, at) => placesIn(schema.items ?? {}, item, [...keys, at]))
    : isMap(value)
      ? Object.entries(value).flatMap(([name, inner]) =>
          placesIn(schema.properties?.[name] ?? schema.additionalProperties ?? {}, inner, [
            ...keys,
            name,
          ]),
        )
      : []
  return [{ keys, schema }, ...inside]
}

/** A value with another one at a place inside of it; undefined takes the place out. */
function replaced(value: Json, keys: Place['keys'], by: Json | undefined): Json | undefined {
  const [key, ...rest] = keys
  if (key === undefined) return by
  if (isList(value))
    return value.flatMap((item, at) => (at === key ? (replaced(item, rest, by) ?? []) : [item]))
  if (!isMap(value)) return value
  return withoutGaps({ ...value, [key]: replaced(value[key] ?? null, rest, by) })
}
