// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { ethereum } from '../../proxy/relay/testing/relay-fixture.ts'
import type { Counts, Simulation, Violation } from './runner/run.ts'
import { addCounts, runSeeds, type Report } from './runner/run-seeds.ts'
import { drawSchedule } from './schedule.ts'
import { simulate } from './simulation.ts'
import { drawSubscriptionSchedule } from './subscriptions/schedule.ts'
import { simulateSubscriptions } from './subscriptions/simulation.ts'

const usage = `make sim [SEEDS=5000] [FROM=1]   run this many seeds, from this one on
make sim SEED=17                 run one seed
make sim SEED=17 TRACE=1         and print every step of it
make sim-subscriptions ...       the same for subscriptions
`

/** Number of failing seeds with printed violations; of the others only the number is printed. */
const maxPrinted = 3

interface Named extends Simulation<unknown> {
  readonly defaultSeeds: number
}

const simulations: Readonly<Record<string, Named>> = {
  engine: { draw: drawSchedule, run: simulate, defaultSeeds: 5_000 },
  subscriptions: {
    draw: drawSubscriptionSchedule,
    run: simulateSubscriptions,
    defaultSeeds: 500,
  },
}

/** The seeds of one thread. */
interface Share {
  readonly name: string
  readonly from: number
  readonly until: number
  readonly step: number
}

if (isMainThread) process.exitCode = (await main(process.argv[2] ?? 'engine')) ? 0 : 1
else {
  // Nothing reads the stacks of thousands of errors, and they take a tenth of the time.
  Error.stackTraceLimit = 0
  const share = workerData as Share
  const report = await runSeeds(simulations[share.name]!, share, await ethereum())
  const port = parentPort
  port?.postMessage(report)
}

/** @returns true if no rule is broken */
async function main(name: string): Promise<boolean> {
  const { draw, run, defaultSeeds } = simulations[name]!
  const seed = wholeNumber('SEED', 0)
  if (seed === 0) return runMany(name, wholeNumber('SEEDS', defaultSeeds), wholeNumber('FROM', 1))
  const ran = await run(draw(seed), await ethereum())
  if (process.env['TRACE'] === '1') print(...ran.trace())
  print(...ran.violations.map(lineOf))
  const isFine = ran.violations.length === 0
  print(`seed ${seed}: ${isFine ? 'no violation' : 'FAILED'}`)
  return isFine
}

async function runMany(name: string, seeds: number, first: number): Promise<boolean> {
  const startedMs = performance.now()
  const step = Math.min(availableParallelism(), seeds)
  const threads = Array.from({ length: step }, (_, at) =>
    runThread({ name, from: first + at, until: first + seeds - 1, step }),
  )
  const reports = await Promise.all(threads)
  const counts: Counts = {}
  for (const report of reports) addCounts(counts, report.counts)
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  print(`${seeds} seeds from ${first} in ${seconds} s on ${step} cores`)
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  print(sorted.map(([what, times]) => `${what} ${times}`).join(', '))
  const failures = reports.flatMap((each) => each.failures).toSorted((a, b) => a.seed - b.seed)
  for (const { seed, violations } of failures.slice(0, maxPrinted))
    print(`\nseed ${seed} breaks:`, ...violations.map(lineOf), `SEED=${seed} TRACE=1 shows how`)
  if (failures.length === 0) print('no violation')
  else print(`${failures.length} seeds FAILED: ${failures.map(({ seed }) => seed).join(' ')}`)
  return failures.length === 0
}

function runThread(share: Share): Promise<Report> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

function lineOf({ rule, what }: Violation): string {
  return `${rule}: ${what}`
}

/** A positive whole number from the environment. Exits on any other text. */
function wholeNumber(name: string, fallback: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return fallback
  if (/^[1-9][0-9]{0,9}$/.test(text)) return Number(text)
  process.stderr.write(`${name} is a whole number from 1 on, not "${text}".\n\n${usage}`)
  process.exit(2)
}

function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`)
}
