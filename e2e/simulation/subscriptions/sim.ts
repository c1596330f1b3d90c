// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { loadSpec } from '../engine.ts'
import { shareSeeds, type SharedSeeds } from '../seeds.ts'
import { wholeNumber } from '../settings.ts'
import type { Counts } from '../tally.ts'
import { drawSubscriptionSchedule, forcedFailovers } from './draw-schedule.ts'
import { addCounts, type SubscriptionFailure, type SubscriptionReport } from './run-seeds.ts'
import { shrinkSubscriptions } from './shrink.ts'
import { simulateSubscriptions } from './simulation.ts'

const usage = `make sim-subscriptions [SEEDS=500] [FROM=1]   run so many seeds, and one of 200 forced failovers
make sim-subscriptions SEED=17               run one seed
make sim-subscriptions SEED=17 TRACE=1       and tell every step of it`

async function runOne(seed: number, withTrace: boolean): Promise<boolean> {
  const schedule = drawSubscriptionSchedule(seed)
  const { trace, violations } = await simulateSubscriptions(schedule, await loadSpec())
  if (withTrace) print(trace.join('\n'))
  for (const { rule, what } of violations) print(`${rule}: ${what}`)
  print(`seed ${seed}: ${violations.length === 0 ? 'nothing is wrong' : 'FAILED'}`)
  return violations.length === 0
}

async function runMany(seeds: number, from: number): Promise<boolean> {
  const startedMs = performance.now()
  const workers = Math.min(availableParallelism(), seeds)
  const shared = shareSeeds(from, seeds)
  const reports = await Promise.all(Array.from({ length: workers }, () => runWorker(shared)))
  const counts: Counts = {}
  for (const report of reports) addCounts(counts, report.counts)
  const failures = reports.flatMap((report) => report.failures).toSorted((a, b) => a.seed - b.seed)
  print(`${seeds} seeds from ${from} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
  printCounts(counts)
  const forced = await simulateSubscriptions(forcedFailovers(from, 200), await loadSpec())
  print(`200 forced failovers: ${forced.violations.length} violations`)
  printCounts(forced.counts)
  const [first] = failures
  if (first) await tell(first)
  if (failures.length === 0) print('no violation')
  else print(`${failures.length} seeds FAILED: ${failures.map(({ seed }) => seed).join(' ')}`)
  return failures.length === 0 && forced.violations.length === 0
}

function runWorker(workerData: SharedSeeds): Promise<SubscriptionReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
    worker.on('message', ({ report }: { readonly report: SubscriptionReport }) => {
      resolve(report)
    })
    worker.on('error', reject)
  })
}

async function tell({ seed, violations }: SubscriptionFailure): Promise<void> {
  const [first] = violations
  if (!first) return
  print(`\nseed ${seed} breaks ${first.rule}: ${first.what}`)
  const schedule = drawSubscriptionSchedule(seed)
  const shortest = await shrinkSubscriptions(schedule, first.rule, await loadSpec())
  print(`the shortest schedule that still does:\n${JSON.stringify(shortest.schedule)}`)
  print(shortest.result.trace.join('\n'))
}

function printCounts(counts: Counts): void {
  print(
    Object.entries(counts)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, times]) => `${name} ${times}`)
      .join(', '),
  )
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const seed = wholeNumber('SEED', null, usage)
const isFine =
  seed === null
    ? await runMany(wholeNumber('SEEDS', 500, usage) ?? 1, wholeNumber('FROM', 1, usage) ?? 1)
    : await runOne(seed, process.env['TRACE'] === '1')
process.exitCode = isFine ? 0 : 1
