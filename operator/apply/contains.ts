// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isSameQuantity } from '../api/quantity.ts'

/**
 * Whether an object has every field of an intent; lists are compared item by item. It ignores extra
 * fields, such as defaults. An absent value equals zero or an empty list, which the API server
 * omits. Amounts of resources are compared by value.
 */
export function contains(object: unknown, intent: unknown): boolean {
  if (object === undefined || object === null) return isZero(intent)
  if (Array.isArray(intent)) {
    return (
      Array.isArray(object) &&
      object.length === intent.length &&
      intent.every((item, index) => contains(object[index], item))
    )
  }
  if (typeof intent !== 'object' || intent === null) return object === intent
  if (typeof object !== 'object') return false
  const fields = object as Readonly<Record<string, unknown>>
  return Object.entries(intent).every(([key, value]) =>
    amountFields.has(key) ? hasAmounts(fields[key], value) : contains(fields[key], value),
  )
}

/** Fields that map resources to quantities. */
const amountFields: ReadonlySet<string> = new Set(['requests', 'limits'])

function hasAmounts(object: unknown, intent: unknown): boolean {
  const amounts = (object ?? {}) as Readonly<Record<string, string | number | undefined>>
  return Object.entries((intent ?? {}) as typeof amounts).every(([resource, amount = 0]) => {
    const present = amounts[resource]
    return present !== undefined && isSameQuantity(present, amount)
  })
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === 0 || value === false || value === ''
}
