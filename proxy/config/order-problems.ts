// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from './problem.ts'

const mostProblems = 200

/** In the order of the file, the command line first; none twice, and not more than anybody reads. */
export function orderProblems(problems: readonly Problem[]): readonly Problem[] {
  const unique = new Map(
    problems.map((problem) => [`${problem.path}\n${problem.message}`, problem]),
  )
  const ordered = [...unique.values()].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
  if (ordered.length <= mostProblems) return ordered
  const errors = ordered.filter((problem) => problem.severity === 'error')
  const kept = [...errors, ...ordered.filter((problem) => problem.severity === 'warning')]
  const rest: Problem = {
    severity: 'warning',
    path: '',
    line: null,
    column: null,
    message: `these are the first ${mostProblems} problems; there are more`,
    hint: null,
  }
  return [...kept.slice(0, mostProblems), rest]
}
