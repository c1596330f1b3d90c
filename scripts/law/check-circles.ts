// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { posix } from 'node:path'
import { isTestCode, type Violation } from './check-source.ts'
import type { Source } from './source.ts'

/** For each folder, the folders that its files import, each with the first such file. */
type Ways = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Sibling folders that import each other, directly or indirectly: none of them can be understood or
 * moved without the others. A folder and its parent may import each other.
 */
export function checkCircles(sources: readonly Source[]): Violation[] {
  const ways = waysBetween(sources)
  return [...ways.keys()]
    .map((folder) => circleThrough(folder, ways))
    .filter((circle) => circle !== null)
    .map((circle) => {
      const files = circle.map((from, at) => ways.get(from)?.get(next(circle, at)))
      return `${circle.join(' -> ')} -> ${circle[0]} is a circle (${files.join(', ')}). Move what both need to where both may import it.`
    })
}

function next(circle: readonly string[], at: number): string {
  return circle[(at + 1) % circle.length] ?? ''
}

function waysBetween(sources: readonly Source[]): Ways {
  const ways = new Map<string, Map<string, string>>()
  for (const { path, imports } of sources.filter((each) => !isTestCode(each.path))) {
    const from = posix.dirname(path)
    for (const { specifier } of imports.filter((each) => each.specifier.startsWith('.'))) {
      const to = posix.dirname(posix.join(from, specifier))
      if (posix.dirname(from) !== posix.dirname(to) || from === to) continue
      const all = ways.get(from) ?? new Map<string, string>()
      if (!all.has(to)) ways.set(from, all.set(to, path))
    }
  }
  return ways
}

/** The shortest circle in which the folder is first by name; null without one. */
function circleThrough(folder: string, ways: Ways): readonly string[] | null {
  const seen = new Set([folder])
  let paths: string[][] = [[folder]]
  while (paths.length > 0) {
    const longer: string[][] = []
    for (const path of paths) {
      for (const to of ways.get(path.at(-1) ?? '')?.keys() ?? []) {
        if (to === folder) return path
        if (seen.has(to) || to < folder) continue
        seen.add(to)
        longer.push([...path, to])
      }
    }
    paths = longer
  }
  return null
}
