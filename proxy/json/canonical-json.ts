// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lowerHex } from './canonical-params.ts'

/**
 * The same text for the same value: members sorted, no spaces, numbers not rounded. Null for what is no JSON, or is
 * nested too deep.
 *
 * @param member of the document that is wanted, where it is an object that has it; null: the whole document
 * @param ignored paths of fields to leave out, such as `context.slot`; `*` is every element of a list
 * @param anyCaseHex the case of hex digits means nothing
 */
export function canonicalJson(
  bytes: Uint8Array,
  member: string | null,
  ignored: readonly string[],
  anyCaseHex = false,
): string | null {
  try {
    const document = JSON.parse(Buffer.from(bytes).toString(), exactNumber) as Json
    const hasIt = member !== null && isObject(document) && Object.hasOwn(document, member)
    const value = hasIt ? (document[member] as Json) : document
    for (const path of ignored) remove(value, path.split('.'))
    return canonical(value, anyCaseHex ? lowerHex : verbatim)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

/** A value of JSON. */
export type Json =
  string | number | boolean | null | Json[] | { [name: string]: Json } | ExactNumber

/** A number that a double cannot hold. */
class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** Two long numbers must not be the same since they are rounded. */
function exactNumber(_name: string, value: Json, context?: { source?: string }): Json {
  const { source } = context ?? {}
  if (typeof value !== 'number' || source === undefined || source.length < 16) return value
  return new ExactNumber(source)
}

const verbatim = (text: string) => text

/** The same for a value that was parsed. @param form of each text and name */
export function canonical(value: Json, form = verbatim): string {
  if (typeof value === 'string') return JSON.stringify(form(value))
  if (value instanceof ExactNumber) return value.source
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, form)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).map(
    (name) => `${JSON.stringify(form(name))}:${canonical(value[name] as Json, form)}`,
  )
  return `{${members.toSorted().join(',')}}`
}

function remove(value: Json, [name = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) {
    if (name === '*') for (const each of value) remove(each, rest)
  } else if (!isObject(value)) return
  else if (rest.length === 0) delete value[name]
  else if (Object.hasOwn(value, name)) remove(value[name] as Json, rest)
}

function isObject(value: Json): value is { [name: string]: Json } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof ExactNumber) &&
    !Array.isArray(value)
  )
}
