// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from './arena.ts'
import { drawSchedule } from './draw-schedule.ts'
import type { Spec } from './engine.ts'
import { simulate } from './simulation.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

/** One seed in so many is run twice, and must leave the same trace. */
const twiceEach = 50

/** A seed that broke something. */
export interface Failure {
  readonly seed: number
  readonly violations: readonly Violation[]
}

export interface Report {
  readonly tally: Tally
  readonly failures: readonly Failure[]
}

/** Runs the schedules of many seeds, one after another. */
export async function runSeeds(
  seeds: Iterable<number>,
  spec: Spec,
  done: (seed: number) => void = () => {},
): Promise<Report> {
  const tally = emptyTally()
  const failures: Failure[] = []
  for (const seed of seeds) {
    const result = await simulate(drawSchedule(seed), spec)
    addTally(tally, result.tally)
    const found = [...result.violations]
    if (seed % twiceEach === 0) {
      const trace = result.trace()
      const again = (await simulate(drawSchedule(seed), spec)).trace()
      const at = trace.findIndex((line, index) => line !== again[index])
      if (at >= 0 || trace.length !== again.length)
        found.push({
          rule: 'same-trace',
          atMs: 0,
          what: `the second run differs at line ${at + 1}`,
        })
    }
    if (found.length > 0) failures.push({ seed, violations: found })
    done(seed)
  }
  return { tally, failures }
}
