// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { formatPath, type Path } from './path.ts'
import type { Problem } from './problem.ts'
import { isList, isMap, Scalar, type Tree } from './scalar.ts'
import type { Position } from './yaml-text.ts'

/** Something that the config format knows and this version of the router does not do yet. */
interface UnbuiltCapability {
  /** What a message calls it. */
  readonly name: string
  readonly key: string
  /** Only this value of the key; null for the key as a whole. */
  readonly value: string | null
}

/** To build a capability is to delete its row: the schema knows its keys already. */
const unbuiltCapabilities: readonly UnbuiltCapability[] = [
  { name: 'cross-validation', key: 'cross-validation', value: null },
  { name: 'resp-cache', key: 'resp-cache', value: null },
  { name: 'cache-be', key: 'cache-be', value: null },
  { name: 'shared-state', key: 'shared-state', value: null },
]

/** What a message calls a capability that is not built yet; null when the key, with this value, is supported. */
export function unsupportedName(key: string, value: string | null): string | null {
  return unbuilt(key, value)?.name ?? null
}

function unbuilt(key: string, value: string | null): UnbuiltCapability | null {
  const found = unbuiltCapabilities.find(
    (row) => row.key === key && (row.value === null || row.value === value),
  )
  return found ?? null
}

/** The sentence that refuses a capability. */
export function unsupportedMessage(name: string): string {
  return `${name} is not supported by this version`
}

/** Maps whose keys are the operator's own words. */
const freeMaps: ReadonlySet<string> = new Set(['auth-headers', 'auth-query'])

/** Refuses every key and value that needs a capability which is not built yet. */
export function refuseUnsupported(
  tree: Tree,
  locate: (path: string) => Position | null,
): Problem[] {
  const problems: Problem[] = []
  const visit = (value: Tree, path: Path): void => {
    if (isList(value)) for (const [index, item] of value.entries()) visit(item, [...path, index])
    if (!isMap(value)) return
    for (const [key, item] of Object.entries(value)) {
      const inner = [...path, key]
      const text = item instanceof Scalar ? item.reveal() : null
      const refused = unbuilt(key, text)
      if (refused !== null && text !== 'false') {
        const place = formatPath(inner)
        const { line = null, column = null } = locate(place) ?? {}
        const message = unsupportedMessage(refused.name)
        problems.push({ severity: 'error', path: place, line, column, message, hint: null })
      } else if (!freeMaps.has(key)) {
        visit(item, inner)
      }
    }
  }
  visit(tree, [])
  return problems
}
