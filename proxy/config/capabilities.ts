// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Report } from './problem.ts'
import { Scalar, type TreeMap } from './yaml/scalar.ts'

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

/** Refuses every key of the file that needs a capability which is not built yet, unless it is switched off. */
export function refuseUnsupported(tree: TreeMap, report: Report): void {
  for (const [key, item] of Object.entries(tree))
    if (isUnbuilt(key) && !(item instanceof Scalar && item.reveal() === 'false'))
      report(key, unsupportedMessage(key))
}
