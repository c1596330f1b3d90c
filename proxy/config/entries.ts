// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { formatPath } from './path.ts'
import { child, isList, isMap, type Tree } from './scalar.ts'

/** The maps of a list of the file, each with its place, such as `endpoints[0]`. */
export function entriesOf(
  tree: Tree,
  key: string,
): readonly (readonly [entry: Tree, path: string])[] {
  const list = child(tree, key)
  if (!isList(list)) return []
  return list
    .map((entry, index) => [entry, formatPath([key, index])] as const)
    .filter(([entry]) => isMap(entry))
}
