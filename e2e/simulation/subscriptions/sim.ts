// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { runCommand } from '../runner/command.ts'
import type { Counts } from '../tally.ts'
import { forcedFailovers } from './draw-schedule.ts'
import { simulateSubscriptions } from './simulation.ts'
import { subscriptionSimulation } from './subscription-simulation.ts'

const usage = `make sim-subscriptions [SEEDS=500] [FROM=1]   run so many seeds, and one of 200 forced failovers
make sim-subscriptions SEED=17               run one seed
make sim-subscriptions SEED=17 TRACE=1       and tell every step of it`

await runCommand({
  simulation: subscriptionSimulation,
  file: new URL(import.meta.url),
  usage,
  usualSeeds: 500,
  toldInFull: 1,
  summaryOf: (tally, { from, seeds, seconds }) => [
    `${seeds} seeds from ${from} in ${seconds.toFixed(1)} s`,
    byName(tally),
  ],
  linesOf: (schedule) => [JSON.stringify(schedule)],
  async afterwards(from, spec) {
    const { violations, tally } = await simulateSubscriptions(forcedFailovers(from, 200), spec)
    return {
      isFine: violations.length === 0,
      lines: [`200 forced failovers: ${violations.length} violations`, byName(tally)],
    }
  },
})

function byName(counts: Counts): string {
  const sorted = Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, times]) => `${name} ${times}`).join(', ')
}
