// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { Counts, Simulation, Violation } from './run.ts'

/** One seed in this many runs twice, and must produce the same trace. */
const repeatEvery = 50

export interface Report {
  readonly counts: Counts
  /** Seeds with violations. */
  readonly failures: readonly {
    readonly seed: number
    readonly violations: readonly Violation[]
  }[]
}

/** Runs the schedules of the seeds from `from` to `until`, or of every `step`-th seed. */
export async function runSeeds<Schedule>(
  { draw, run }: Simulation<Schedule>,
  {
    from,
    until,
    step = 1,
  }: { readonly from: number; readonly until: number; readonly step?: number },
  spec: Spec,
): Promise<Report> {
  const counts: Counts = {}
  const failures: Report['failures'][number][] = []
  for (let seed = from; seed <= until; seed += step) {
    const ran = await run(draw(seed), spec)
    addCounts(counts, ran.counts)
    if (seed % repeatEvery === 0) {
      const again = await run(draw(seed), spec)
      const line = firstDifference(ran.trace(), again.trace())
      if (line !== null) ran.report('same-trace', `the second run differs at line ${line}`)
    }
    if (ran.violations.length > 0) failures.push({ seed, violations: ran.violations })
  }
  return { counts, failures }
}

export function addCounts(sum: Counts, more: Counts): void {
  for (const [name, times] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + times
}

/** The first line in which two traces differ, counted from 1; null if they are equal. */
function firstDifference(first: readonly string[], second: readonly string[]): number | null {
  const lines = Math.max(first.length, second.length)
  for (let at = 0; at < lines; at++) if (first[at] !== second[at]) return at + 1
  return null
}
