// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lowerHex } from './canonical-params.ts'

/**
 * Canonical text of JSON: sorted members, no spaces, unrounded numbers. Null for invalid JSON,
 * excessive nesting, or duplicate members, which clients read differently.
 *
 * @param member the member of the document to render, if it has that member; null: the whole
 * document
 * @param ignored paths of fields to omit, such as `context.slot`; `*` is every element of a list
 * @param anyCaseHex whether to ignore the case of hex digits
 */
export function canonicalJson(
  bytes: Uint8Array,
  member: string | null,
  ignored: readonly string[],
  anyCaseHex = false,
): string | null {
  try {
    const text = Buffer.from(bytes).toString()
    const document = JSON.parse(text, exactNumber) as Json
    if (membersIn(document) !== namesIn(text)) return null
    const hasIt = member !== null && isObject(document) && Object.hasOwn(document, member)
    const value = hasIt ? (document[member] as Json) : document
    for (const path of ignored) remove(value, path.split('.'))
    return canonical(value, anyCaseHex ? lowerHex : verbatim)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

export type Json =
  string | number | boolean | null | Json[] | { [name: string]: Json } | ExactNumber

/** A number that a double cannot represent. */
class ExactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

function membersIn(value: Json): number {
  if (!Array.isArray(value) && !isObject(value)) return 0
  const values = Object.values(value)
  return values.reduce(
    (sum: number, each) => sum + membersIn(each),
    isObject(value) ? values.length : 0,
  )
}

/** Number of member names in a valid document: each colon outside strings follows a name. */
function namesIn(text: string): number {
  let names = 0
  for (let at = 0; at < text.length; at++)
    if (text[at] === ':') names += 1
    else if (text[at] === '"') while (text[++at] !== '"') if (text[at] === '\\') at += 1
  return names
}

/** Rounding must not make two long numbers equal. */
function exactNumber(_name: string, value: Json, context?: { source?: string }): Json {
  const { source } = context ?? {}
  if (typeof value !== 'number' || source === undefined) return value
  const isExact = value === 0 ? /^[-0.]+(?:e|$)/i.test(source) : Math.abs(value) > 1e-300
  return isExact && source.length < 16 && Number.isFinite(value) ? value : new ExactNumber(source)
}

const verbatim = (text: string) => text

/** Canonical text of a parsed value. @param form maps each string and name */
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
