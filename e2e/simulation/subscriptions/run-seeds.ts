// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { Counts } from '../tally.ts'
import { drawSubscriptionSchedule } from './draw-schedule.ts'
import { simulateSubscriptions, type Violation } from './simulation.ts'

/** One seed in so many is run twice, and must leave the same trace. */
const twiceEach = 50

/** A seed that broke something. */
export interface SubscriptionFailure {
  readonly seed: number
  readonly violations: readonly Violation[]
}

export interface SubscriptionReport {
  readonly counts: Counts
  readonly failures: readonly SubscriptionFailure[]
}

/** Runs the schedules of many seeds, one after another. */
export async function runSubscriptionSeeds(
  seeds: Iterable<number>,
  spec: Spec,
): Promise<SubscriptionReport> {
  const counts: Counts = {}
  const failures: SubscriptionFailure[] = []
  for (const seed of seeds) {
    const result = await simulateSubscriptions(drawSubscriptionSchedule(seed), spec)
    addCounts(counts, result.counts)
    const violations = [...result.violations]
    if (seed % twiceEach === 0) {
      const { trace } = await simulateSubscriptions(drawSubscriptionSchedule(seed), spec)
      const at = trace.findIndex((line, index) => line !== result.trace[index])
      if (at >= 0) violations.push({ rule: 'same-trace', what: `line ${at + 1} differs` })
    }
    if (violations.length > 0) failures.push({ seed, violations })
  }
  return { counts, failures }
}

export function addCounts(sum: Counts, more: Counts): void {
  for (const [name, times] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + times
}
