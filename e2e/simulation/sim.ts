// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { engineSimulation } from './engine-simulation.ts'
import { runCommand } from './runner/command.ts'
import type { Counts } from './tally.ts'

const usage = `make sim [SEEDS=5000] [FROM=1]   run so many seeds, from this one on
make sim SEED=17                 run one seed
make sim SEED=17 TRACE=1         and tell every step of it`

await runCommand({
  simulation: engineSimulation,
  file: new URL(import.meta.url),
  usage,
  usualSeeds: 5_000,
  toldInFull: 3,
  summaryOf: (tally, { from, seconds, workers }) => [
    `${tally.schedules} schedules from seed ${from} in ${seconds.toFixed(1)} s on ${workers} cores: ` +
      `${(tally.schedules / seconds).toFixed(0)} schedules a second, ` +
      `${(tally.virtualMs / 3_600_000).toFixed(0)} hours of virtual time`,
    `${tally.requests} requests of clients, ${tally.exchanges} requests to upstreams`,
    `outcomes: ${mostFirst(tally.outcomes)}`,
    `faults: ${mostFirst(tally.faults)}`,
  ],
  linesOf: ({ nodes, settings }) => [
    JSON.stringify(nodes),
    `settings: ${JSON.stringify(settings)}`,
  ],
})

function mostFirst(counts: Counts): string {
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  return sorted.map(([name, times]) => `${name} ${times}`).join(', ')
}
