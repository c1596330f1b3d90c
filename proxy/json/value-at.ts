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
