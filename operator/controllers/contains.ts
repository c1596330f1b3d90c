// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Whether an object has all that an intent says: every field, and lists item by item. What is there beside it, such
 * as defaults of the API server, does not count. Nothing is as good as zero or as an empty list, since the API server
 * leaves these out.
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
  return Object.entries(intent).every(([key, value]) => contains(fields[key], value))
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === 0 || value === false || value === ''
}
