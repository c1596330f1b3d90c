// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The value at a path, in which -1 means the last list element; undefined if absent. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = key === -1 ? (at as unknown[]).at?.(-1) : (at as Record<string | number, unknown>)[key]
  }
  return at
}

/** The values at a path, in which `*` stands for each item of a list. */
export function valuesAt(value: unknown, path: readonly (string | number)[]): unknown[] {
  const each = path.indexOf('*')
  if (each === -1) return [valueAt(value, path)]
  const list = valueAt(value, path.slice(0, each))
  if (!Array.isArray(list)) return []
  return list.flatMap((item) => valuesAt(item, path.slice(each + 1)))
}
