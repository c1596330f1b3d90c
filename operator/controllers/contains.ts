// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isSameQuantity } from '../api/quantity.ts'

/**
 * Whether an object has all that an intent says: every field, and lists item by item. What is there beside it, such
 * as defaults of the API server, does not count. Nothing is as good as zero or as an empty list, since the API server
 * leaves these out; amounts of resources are compared by what they come to.
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

/** Fields whose values are quantities, by resource. */
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
