// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/**
 * Whether an object has all that an intent says: every field, and lists item by item. What is there beside it, such
 * as defaults of the API server, does not count; nor does the difference between nothing and an empty map or list.
 */
export function contains(object: unknown, intent: unknown): boolean {
  if (isEmpty(intent) && isEmpty(object)) return true
  if (Array.isArray(intent)) {
    return (
      Array.isArray(object) &&
      object.length === intent.length &&
      intent.every((item, index) => contains(object[index], item))
    )
  }
  if (typeof intent !== 'object' || intent === null) return object === intent
  if (typeof object !== 'object' || object === null) return false
  const fields = object as Readonly<Record<string, unknown>>
  return Object.entries(intent).every(([key, value]) => contains(fields[key], value))
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
