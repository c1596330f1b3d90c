// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { drawSchedule } from './draw-schedule.ts'
import { loadSpec } from './engine.ts'
import type { Failure, Report } from './run-seeds.ts'
import { shareSeeds, type SharedSeeds } from './seeds.ts'
import { wholeNumber } from './settings.ts'
import { shrink } from './shrink.ts'
import { simulate } from './simulation.ts'
import { addTally, emptyTally, type Counts } from './tally.ts'

const usage = `make sim [SEEDS=5000] [FROM=1]   run so many seeds, from this one on
make sim SEED=17                 run one seed
make sim SEED=17 TRACE=1         and tell every step of it`

/** Failing seeds that are made shorter and told in full; the others are only named. */
const toldInFull = 3

async function runOne(seed: number, withTrace: boolean): Promise<boolean> {
  const { trace, violations } = await simulate(drawSchedule(seed), await loadSpec())
  if (withTrace) print(trace().join('\n'))
  for (const { rule, atMs, what } of violations) print(`${rule} at ${atMs.toFixed(3)} ms: ${what}`)
  print(`seed ${seed}: ${violations.length === 0 ? 'nothing is wrong' : 'FAILED'}`)
  return violations.length === 0
}

async function runMany(seeds: number, from: number): Promise<boolean> {
  const startedMs = performance.now()
  const workers = Math.min(availableParallelism(), seeds)
  let done = 0
  const progress = (more: number) => {
    done += more
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${seeds}`)
  }
  const shared = shareSeeds(from, seeds)
  const reports = await Promise.all(
    Array.from({ length: workers }, () => runWorker(shared, progress)),
  )
  if (process.stderr.isTTY) process.stderr.write('\r')
  const tally = emptyTally()
  for (const report of reports) addTally(tally, report.tally)
  const failures = reports.flatMap((report) => report.failures).toSorted((a, b) => a.seed - b.seed)
  const seconds = (performance.now() - startedMs) / 1_000
  print(
    `${tally.schedules} schedules from seed ${from} in ${seconds.toFixed(1)} s on ${workers} cores: ` +
      `${(tally.schedules / seconds).toFixed(0)} schedules a second, ` +
      `${(tally.virtualMs / 3_600_000).toFixed(0)} hours of virtual time`,
  )
  print(`${tally.requests} requests of clients, ${tally.exchanges} requests to upstreams`)
  printCounts('outcomes', tally.outcomes)
  printCounts('faults', tally.faults)
  for (const failure of failures.slice(0, toldInFull)) await tell(failure)
  if (failures.length === 0) print('no violation')
  else print(`${failures.length} seeds FAILED: ${failures.map(({ seed }) => seed).join(' ')}`)
  return failures.length === 0
}

function runWorker(workerData: SharedSeeds, progress: (more: number) => void): Promise<Report> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
    worker.on('message', (message: { done?: number; report?: Report }) => {
      if (message.done) progress(message.done)
      if (message.report) resolve(message.report)
    })
    worker.on('error', reject)
  })
}

async function tell({ seed, violations }: Failure): Promise<void> {
  const [first] = violations
  if (!first) return
  print(`\nseed ${seed} breaks ${first.rule}: ${first.what}`)
  const { schedule, result } = await shrink(drawSchedule(seed), first.rule, await loadSpec())
  print(`the shortest schedule that still does:\n${JSON.stringify(schedule.nodes)}`)
  print(`settings: ${JSON.stringify(schedule.settings)}`)
  print(result.trace().join('\n'))
}

function printCounts(title: string, counts: Counts): void {
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  print(`${title}: ${sorted.map(([name, times]) => `${name} ${times}`).join(', ')}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const seed = wholeNumber('SEED', null, usage)
const isFine =
  seed === null
    ? await runMany(wholeNumber('SEEDS', 5_000, usage) ?? 1, wholeNumber('FROM', 1, usage) ?? 1)
    : await runOne(seed, process.env['TRACE'] === '1')
process.exitCode = isFine ? 0 : 1
