// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { formatPath, type Locate, type Path, type Problem, problemAt } from './problem.ts'
import { isList, isMap, Scalar, type Tree } from './yaml/scalar.ts'

/** Keys that the config format knows and this version does not do yet. To build a capability is to delete its key here. */
const unbuilt: ReadonlySet<string> = new Set([
  'cross-validation',
  'resp-cache',
  'cache-be',
  'shared-state',
])

export function isUnbuilt(key: string): boolean {
  return unbuilt.has(key)
}

/** The sentence that refuses a capability. */
export function unsupportedMessage(name: string): string {
  return `${name} is not supported by this version`
}

/** Maps whose keys are the operator's own words. */
const freeMaps: ReadonlySet<string> = new Set(['auth-headers', 'auth-query'])

/** Refuses every key that needs a capability which is not built yet, unless it is switched off. */
export function refuseUnsupported(tree: Tree, locate: Locate, path: Path = []): Problem[] {
  if (isList(tree))
    return tree.flatMap((item, index) => refuseUnsupported(item, locate, [...path, index]))
  if (!isMap(tree)) return []
  return Object.entries(tree).flatMap(([key, item]) => {
    const inner = [...path, key]
    const isOff = item instanceof Scalar && item.reveal() === 'false'
    if (!isUnbuilt(key) || isOff)
      return freeMaps.has(key) ? [] : refuseUnsupported(item, locate, inner)
    const place = formatPath(inner)
    return [problemAt(place, locate(place), unsupportedMessage(key))]
  })
}
