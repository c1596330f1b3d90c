// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describeError } from './error-fields.ts'

/** Takes secrets out of a text. */
export type Redactor = (text: string) => string

/** How much of anything reaches the log: text in characters, lists and records in entries. */
const maxText = 1_000
const maxEntries = 20
const maxDepth = 6

/**
 * A copy of a log field that is plain JSON, bounded, and holds no secret: each text and each key
 * in it went through the redactor, before it was cut.
 */
export function printable(value: unknown, redact: Redactor, stacks: boolean, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      return cut(redact(value))
    case 'number':
    case 'boolean':
    case 'undefined':
      return value
    case 'object':
      break
    default:
      return cut(redact(String(value)))
  }
  if (value === null) return null
  if (depth >= maxDepth) return '[deeper]'
  const inner = (one: unknown) => printable(one, redact, stacks, depth + 1)
  if (value instanceof Error) {
    const fields = describeError(value, stacks)
    return printable({ ...fields }, redact, stacks || fields.stack !== undefined, depth)
  }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return inner((value as { toJSON(): unknown }).toJSON())
  if (Array.isArray(value)) {
    const kept = value.slice(0, maxEntries).map(inner)
    return value.length > maxEntries ? [...kept, `[${value.length - maxEntries} more]`] : kept
  }
  const kept = Object.entries(value).slice(0, maxEntries)
  return Object.fromEntries(kept.map(([key, one]) => [cut(redact(key)), inner(one)]))
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}[${text.length - maxText} more]` : text
}
