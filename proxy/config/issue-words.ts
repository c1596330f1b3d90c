// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}
const units: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  object: 'key',
  record: 'key',
}

function typeOf(value: unknown): string {
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'array'
  return value === null ? 'null' : typeof value
}

const nameOf = (type: string) => typeNames[type] ?? type

function amountOf(origin: string, end: 'least' | 'most', limit: unknown): string {
  const unit = units[origin]
  if (!unit) return `be at ${end} ${String(limit)}`
  return `have at ${end} ${String(limit)} ${unit}${limit === 1 ? '' : 's'}`
}

/** Describes a rejected value when its schema has no message; undefined for rare issues. */
function wordsFor(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = nameOf(issue.expected)
      return issue.input === undefined
        ? `is missing: must be ${expected}`
        : `must be ${expected}, not ${nameOf(typeOf(issue.input))}`
    }
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
      return `must ${amountOf(issue.origin, 'least', issue.minimum)}`
    case 'too_big':
      return `must ${amountOf(issue.origin, 'most', issue.maximum)}`
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue['pattern']}` : undefined
    default:
      return undefined
  }
}

z.config({ customError: wordsFor })
