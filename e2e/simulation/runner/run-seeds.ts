// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { Simulation, Violation } from './types.ts'

/** One seed in so many is run twice, and must leave the same trace. */
const twiceEach = 50

/** A seed that broke something. */
export interface Failure<Rule extends string> {
  readonly seed: number
  readonly violations: readonly Violation<Rule | 'same-trace'>[]
}

export interface Report<Rule extends string, Tally> {
  readonly tally: Tally
  readonly failures: readonly Failure<Rule>[]
}

/** Runs the schedules of many seeds, one after another. */
export async function runSeeds<Schedule, Rule extends string, Tally>(
  simulation: Simulation<Schedule, Rule, Tally>,
  seeds: Iterable<number>,
  spec: Spec,
  done: (seed: number) => void = () => {},
): Promise<Report<Rule, Tally>> {
  const tally = simulation.emptyTally()
  const failures: Failure<Rule>[] = []
  for (const seed of seeds) {
    const ran = await simulation.run(simulation.draw(seed), spec)
    simulation.addTally(tally, ran.tally)
    const violations: Violation<Rule | 'same-trace'>[] = [...ran.violations]
    if (seed % twiceEach === 0) {
      const again = await simulation.run(simulation.draw(seed), spec)
      const line = firstDifference(ran.trace(), again.trace())
      if (line !== null)
        violations.push({ rule: 'same-trace', what: `the second run differs at line ${line}` })
    }
    if (violations.length > 0) failures.push({ seed, violations })
    done(seed)
  }
  return { tally, failures }
}

/** The line, counted from 1, in which two traces differ, or which one of them has not; null: they are the same. */
function firstDifference(first: readonly string[], second: readonly string[]): number | null {
  const lines = Math.max(first.length, second.length)
  for (let at = 0; at < lines; at++) if (first[at] !== second[at]) return at + 1
  return null
}
