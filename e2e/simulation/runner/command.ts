// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { loadSpec, type Spec } from '../engine.ts'
import { runSeeds, type Failure, type Report } from './run-seeds.ts'
import { shareSeeds, takeSeeds, type SharedSeeds } from './seeds.ts'
import { wholeNumber } from './settings.ts'
import { shrink } from './shrink.ts'
import type { Simulation } from './types.ts'

/** What was run, and how long it took. */
export interface Extent {
  readonly from: number
  readonly seeds: number
  readonly seconds: number
  readonly workers: number
}

/** A program that runs the seeds that its environment tells. */
export interface Command<Schedule, Rule extends string, Tally> {
  readonly simulation: Simulation<Schedule, Rule, Tally>
  /** The program's own file, which is run by a thread on each core as well. */
  readonly file: URL
  readonly usage: string
  /** Where nobody says how many. */
  readonly usualSeeds: number
  /** Failing seeds that are made shorter and told in full; the others are only named. */
  readonly toldInFull: number
  /** Of all seeds, line by line. */
  summaryOf(tally: Tally, extent: Extent): readonly string[]
  /** A schedule for a person, line by line. */
  linesOf(schedule: Schedule): readonly string[]
  /** Runs beside the seeds, when these are done. */
  afterwards?(from: number, spec: Spec): Promise<Afterwards>
}

interface Afterwards {
  readonly isFine: boolean
  readonly lines: readonly string[]
}

/** What a thread tells of its work. */
interface Message<Rule extends string, Tally> {
  readonly done?: number
  readonly report?: Report<Rule, Tally>
}

/** Runs what the environment tells, and tells what came of it; or, as a worker, one core's part of it. */
export async function runCommand<Schedule, Rule extends string, Tally>(
  command: Command<Schedule, Rule, Tally>,
): Promise<void> {
  if (!isMainThread) return work(command)
  const { usage, usualSeeds } = command
  const seed = wholeNumber('SEED', null, usage)
  const isFine =
    seed === null
      ? await runMany(
          command,
          wholeNumber('SEEDS', usualSeeds, usage) ?? 1,
          wholeNumber('FROM', 1, usage) ?? 1,
        )
      : await runOne(command, seed, process.env['TRACE'] === '1')
  process.exitCode = isFine ? 0 : 1
}

/** Tells how far it is, and at the end what came of it. */
async function work<Schedule, Rule extends string, Tally>({
  simulation,
}: Command<Schedule, Rule, Tally>): Promise<void> {
  const port = parentPort
  const tell = (message: Message<Rule, Tally>) => port?.postMessage(message)
  // Thousands of errors are made and none of their stacks is read; writing them takes a tenth of the time.
  Error.stackTraceLimit = 0
  let done = 0
  const seeds = takeSeeds(workerData as SharedSeeds)
  const report = await runSeeds(simulation, seeds, await loadSpec(), () => {
    done += 1
    if (done % 100 === 0) tell({ done: 100 })
  })
  tell({ report })
}

async function runOne<Schedule, Rule extends string, Tally>(
  { simulation }: Command<Schedule, Rule, Tally>,
  seed: number,
  withTrace: boolean,
): Promise<boolean> {
  const { trace, violations } = await simulation.run(simulation.draw(seed), await loadSpec())
  if (withTrace) print(trace().join('\n'))
  for (const { rule, atMs, what } of violations) {
    const when = atMs === undefined ? '' : ` at ${atMs.toFixed(3)} ms`
    print(`${rule}${when}: ${what}`)
  }
  print(`seed ${seed}: ${violations.length === 0 ? 'nothing is wrong' : 'FAILED'}`)
  return violations.length === 0
}

async function runMany<Schedule, Rule extends string, Tally>(
  command: Command<Schedule, Rule, Tally>,
  seeds: number,
  from: number,
): Promise<boolean> {
  const { simulation, file, toldInFull } = command
  const startedMs = performance.now()
  const workers = Math.min(availableParallelism(), seeds)
  let done = 0
  const progress = (more: number) => {
    done += more
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${seeds}`)
  }
  const shared = shareSeeds(from, seeds)
  const reports = await Promise.all(
    Array.from({ length: workers }, () => runWorker<Rule, Tally>(file, shared, progress)),
  )
  if (process.stderr.isTTY) process.stderr.write('\r')
  const tally = simulation.emptyTally()
  for (const report of reports) simulation.addTally(tally, report.tally)
  const failures = reports.flatMap((report) => report.failures).toSorted((a, b) => a.seed - b.seed)
  const seconds = (performance.now() - startedMs) / 1_000
  printAll(command.summaryOf(tally, { from, seeds, seconds, workers }))
  const afterwards = await command.afterwards?.(from, await loadSpec())
  if (afterwards) printAll(afterwards.lines)
  for (const failure of failures.slice(0, toldInFull)) await tell(command, failure)
  if (failures.length === 0) print('no violation')
  else print(`${failures.length} seeds FAILED: ${failures.map(({ seed }) => seed).join(' ')}`)
  return failures.length === 0 && afterwards?.isFine !== false
}

function runWorker<Rule extends string, Tally>(
  file: URL,
  shared: SharedSeeds,
  progress: (more: number) => void,
): Promise<Report<Rule, Tally>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: shared })
    worker.on('message', ({ done, report }: Message<Rule, Tally>) => {
      if (done) progress(done)
      if (report) resolve(report)
    })
    worker.on('error', reject)
  })
}

async function tell<Schedule, Rule extends string, Tally>(
  { simulation, linesOf }: Command<Schedule, Rule, Tally>,
  { seed, violations }: Failure<Rule>,
): Promise<void> {
  const [first] = violations
  if (!first) return
  print(`\nseed ${seed} breaks ${first.rule}: ${first.what}`)
  const drawn = simulation.draw(seed)
  const { schedule, result } = await shrink(simulation, drawn, first.rule, await loadSpec())
  print('the shortest schedule that still does:')
  printAll([...linesOf(schedule), ...result.trace()])
}

function printAll(lines: readonly string[]): void {
  for (const line of lines) print(line)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
