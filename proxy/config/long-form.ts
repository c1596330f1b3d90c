// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { stringify } from 'yaml'
import { isSettingName, settings } from './settings.ts'
import { isMap, Scalar, type Tree, type TreeMap } from './yaml/scalar.ts'

/** A completed config as YAML, with placeholders as written. @param isFull includes defaults */
export function longForm(tree: TreeMap, isFull: boolean): string {
  const keys = Object.entries(tree).filter(([key, value]) => {
    const usual = isSettingName(key) ? settings[key].default : null
    return isFull || usual === null || !(value instanceof Scalar) || value.written !== usual
  })
  // The settings come first in the tree, where the file overrides their defaults.
  const [sections, ofProcess] = [false, true].map((of) =>
    keys.filter(([key]) => isSettingName(key) === of),
  )
  return stringify(plain(Object.fromEntries([...(sections ?? []), ...(ofProcess ?? [])])), {
    schema: 'failsafe',
    lineWidth: 0,
  })
}

function plain(tree: Tree): unknown {
  if (tree instanceof Scalar) return tree.written
  if (isMap(tree))
    return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, plain(value)]))
  return tree === null ? '' : tree.map(plain)
}
