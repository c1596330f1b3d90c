// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { plainValue } from '../yaml/plain-scalar.ts'
import { textLength } from '../api/text-length.ts'
import { fieldOf, type Fault, isList, isMap, type Json } from './fault.ts'

/**
 * What is wrong with a value by the bounds of its schema, in the words of the API server. The value that the API server
 * repeats in front of them is left out.
 */
export function schemaFaults(
  path: string,
  schema: StructuralSchema,
  value: Json,
): readonly Fault[] {
  const own = [...typeFaults(path, schema, value), ...enumFaults(path, schema, value)]
  return [...own, ...boundFaults(path, schema, value), ...innerFaults(path, schema, value)]
}

function innerFaults(path: string, schema: StructuralSchema, value: Json): readonly Fault[] {
  const { items, properties = {}, additionalProperties, required = [] } = schema
  if (isList(value) && items !== undefined)
    return value.flatMap((item, index) => schemaFaults(`${path}[${index}]`, items, item))
  if (!isMap(value)) return []
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => blocking(fieldOf(path, name), 'Required value'))
  return [
    ...missing,
    ...Object.entries(value).flatMap(([name, inner]) => {
      const field = properties[name] ?? additionalProperties
      return field === undefined ? [] : schemaFaults(fieldOf(path, name), field, inner)
    }),
  ]
}

function typeFaults(path: string, schema: StructuralSchema, value: Json): readonly Fault[] {
  const isEither = schema['x-kubernetes-int-or-string'] === true
  const allowed = isEither ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type]
  const found = typeOf(value)
  if (allowed.length === 0 || allowed.includes(found)) return []
  const must = `${path} in body must be of type ${allowed.join(',')}: "${found}"`
  const either = blocking(path, `${path} in body must validate at least one schema (anyOf)`)
  return [blocking(path, must), ...(isEither ? [either] : [])]
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (isList(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function enumFaults(path: string, schema: StructuralSchema, value: Json): readonly Fault[] {
  const { enum: words } = schema
  if (words === undefined || words.includes(value)) return []
  const known = words.map((word) => JSON.stringify(word)).join(', ')
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${known}`
  return [blocking(path, `${message}${unquoted(words, value)}`)]
}

/** Of words that YAML takes for truth: nobody who wrote `off` would look for a false. */
function unquoted(words: readonly unknown[], value: Json): string {
  if (typeof value !== 'boolean') return ''
  const texts = words.filter((each) => typeof each === 'string')
  const word = texts.find((each) => plainValue(each) === value)
  return word === undefined
    ? ''
    : `. YAML reads ${word} without quotes as ${value}: write "${word}" in quotes`
}

function boundFaults(path: string, schema: StructuralSchema, value: Json): readonly Fault[] {
  if (typeof value === 'string') return textFaults(path, schema, value)
  if (typeof value === 'number') return numberFaults(path, schema, value)
  if (isList(value)) return listFaults(path, schema, value)
  const { maxProperties = Infinity } = schema
  const count = isMap(value) ? Object.keys(value).length : 0
  return count > maxProperties ? [tooMany(path, count, maxProperties)] : []
}

function textFaults(path: string, schema: StructuralSchema, value: string): readonly Fault[] {
  const { minLength = 0, maxLength = Infinity, pattern } = schema
  const length = textLength(value)
  const faults: Fault[] = []
  if (length > maxLength)
    faults.push(blocking(path, `Too long: may not be more than ${maxLength} bytes`))
  if (length < minLength) faults.push(invalid(path, `should be at least ${minLength} chars long`))
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    faults.push(invalid(path, `should match '${pattern}'`))
  return faults
}

function numberFaults(path: string, schema: StructuralSchema, value: number): readonly Fault[] {
  const { minimum = -Infinity, maximum = Infinity } = schema
  if (value < minimum) return [invalid(path, `should be greater than or equal to ${minimum}`)]
  if (value > maximum) return [invalid(path, `should be less than or equal to ${maximum}`)]
  return []
}

function listFaults(
  path: string,
  { minItems = 0, maxItems = Infinity }: StructuralSchema,
  { length }: readonly Json[],
): readonly Fault[] {
  if (length > maxItems) return [tooMany(path, length, maxItems)]
  if (length < minItems) return [invalid(path, `should have at least ${minItems} items`)]
  return []
}

function tooMany(path: string, count: number, most: number): Fault {
  return blocking(path, `Too many: ${count}: must have at most ${most} items`)
}

function invalid(path: string, what: string): Fault {
  return { path, message: `${path} in body ${what}`, blocks: false }
}

function blocking(path: string, message: string): Fault {
  return { path, message, blocks: true }
}
