// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from './check-source.ts'
import { fileSizeBudget } from './table.ts'

export interface FileSize {
  readonly path: string
  readonly lineCount: number
}

/** Violations of the size limits per file and in total. Pass no tests or generated files. */
export function checkSizes(files: readonly FileSize[]): Violation[] {
  const { median, p90, most } = fileSizeBudget
  const sorted = files.toSorted((a, b) => b.lineCount - a.lineCount)
  const found = sorted
    .filter(({ lineCount }) => lineCount > most)
    .map(
      ({ path, lineCount }) =>
        `${path} has ${lineCount} lines, ${most} are the most. Find the second concept in it and give that a file of its own.`,
    )
  const longest = sorted
    .slice(0, 5)
    .map(({ path, lineCount }) => `${path} ${lineCount}`)
    .join(', ')
  for (const [name, share, limit] of [
    ['median', 0.5, median],
    ['90th percentile', 0.9, p90],
  ] as const) {
    const value = quantile(sorted, share)
    if (value >= limit)
      found.push(
        `The ${name} of file lengths is ${value}, it must stay below ${limit}. Split the longest: ${longest}.`,
      )
  }
  return found
}

function quantile(longestFirst: readonly FileSize[], share: number): number {
  const at = Math.floor((1 - share) * longestFirst.length)
  return longestFirst[Math.min(at, longestFirst.length - 1)]?.lineCount ?? 0
}
