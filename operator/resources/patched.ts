// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

type Fields = Readonly<Record<string, unknown>>

/**
 * Merges a patch into a value by RFC 7386. Lists of named items are merged item by item, like a
 * strategic merge, with new items at the end; `$patch: delete` removes an item.
 */
export function patched(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patchedList(Array.isArray(target) ? target : [], patch)
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = patched(result[name], value)
  }
  return result
}

function patchedList(target: readonly unknown[], patch: readonly unknown[]): unknown {
  if (patch.some((item) => itemKey(item) === undefined)) return patch
  const left = new Map(target.map((item) => [itemKey(item) ?? item, item]))
  for (const item of patch as readonly Fields[]) {
    const key = itemKey(item)
    if (item['$patch'] === 'delete') left.delete(key)
    else left.set(key, patched(left.get(key), item))
  }
  return [...left.values()]
}

/** Returns the key of a list item. A volume's name is ambiguous if it has several mounts. */
function itemKey(item: unknown): unknown {
  return isObject(item) ? (item['mountPath'] ?? item['name']) : undefined
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
