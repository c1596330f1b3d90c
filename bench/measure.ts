// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter, type RouterProcess } from '../e2e/processes/router-process.ts'
import { usageOf } from './process-usage.ts'
import { type BenchResult, median, mediansOf, type RowResult, thisMachine } from './report.ts'
import { LoadRunner, type Sample } from './rounds.ts'
import { type Row, rows } from './rows.ts'
import {
  canRun,
  startBareAnswer,
  startNginx,
  startPair,
  startPassthrough,
  routersWith,
  startUpstreams,
  type Target,
  type TargetName,
} from './targets.ts'

const upstreamCount = 3
const routerStarts = 3
const warmUpSeconds = 5
const idleMs = 3_000

export interface Plan {
  readonly rounds: number
  /** Duration of one load. */
  readonly seconds: number
  /** Names of rows; empty: all. */
  readonly only: readonly string[]
  /** Path of nginx; null: no nginx. */
  readonly nginx: string | null
  /** Directory for config files and logs. */
  readonly directory: string
  /** Reports a line of progress. */
  progress(text: string): void
}

/**
 * Starts all processes, then loads the targets in turn, row by row, so that other work of the
 * machine affects all targets equally. Rejects on any wrong answer.
 */
export async function measure(plan: Plan): Promise<BenchResult> {
  const { directory, rounds, seconds } = plan
  const { signal } = new AbortController()
  await using children = new ChildProcesses(directory)
  const setting = { children, directory, signal }
  const upstreams = await startUpstreams(upstreamCount, setting)

  plan.progress('router: start-up and idle memory')
  const start = async (throughNpx: boolean) =>
    startRouter({ ...setting, upstreams, throughNpx, flags: ['--cache-bytes', '0'] })
  const npxAnswerMs = await medianStart(() => start(true))
  const direct: RouterProcess[] = []
  const firstAnswerMs = await medianStart(() => start(false), direct)
  const { child, url } = direct[0] as RouterProcess
  await sleep(idleMs)
  const idleBytes = usageOf(child.pid).residentBytes

  const starts: Readonly<Record<TargetName, () => Promise<Target> | Target>> = {
    router: () => ({ name: 'router', port: Number(new URL(url).port), child }),
    nginx: () => startNginx(plan.nginx ?? '', upstreams, setting),
    passthrough: () => startPassthrough(upstreams, setting),
    bare: () => startBareAnswer(setting),
    pair: () => startPair('pair', upstreams, setting),
    'caching pair': () => startPair('caching pair', upstreams, setting),
    ...routersWith(upstreams, setting),
  }
  const started = new Map<TargetName, Target>()
  const runner = new LoadRunner(children)
  const results: RowResult[] = []
  for (const row of rows) {
    if (plan.only.length > 0 && !plan.only.includes(row.name)) continue
    if (row.targets.includes('redis') && !canRun('redis-server')) {
      plan.progress(`${row.name}: there is no redis-server on this machine`)
      continue
    }
    const names = row.targets.filter((name) => name !== 'nginx' || plan.nginx !== null)
    for (const name of names) if (!started.has(name)) started.set(name, await starts[name]())
    const targets = names.map((name) => started.get(name) as Target)
    results.push(await measureRow(row, targets, runner, { ...plan, rounds, seconds }))
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: thisMachine(),
    load: { rounds, seconds },
    router: { firstAnswerMs, npxAnswerMs, idleBytes },
    rows: results,
  }
}

async function measureRow(
  row: Row,
  targets: readonly Target[],
  runner: LoadRunner,
  { rounds, seconds, progress }: Pick<Plan, 'rounds' | 'seconds' | 'progress'>,
): Promise<RowResult> {
  const load = { connections: row.connections, seconds, flags: ['--shape', row.shape] }
  for (const target of targets) await runner.run(target, { ...load, seconds: warmUpSeconds })
  const samples: Record<string, Sample>[] = []
  for (let round = 0; round < rounds; round++) {
    const sample: Record<string, Sample> = {}
    for (const target of targets) {
      const measured = await runner.run(target, load)
      const { cpuMicrosPerRequest, requestsPerSecond } = measured
      sample[target.name] = measured
      progress(
        `${row.name}, round ${round + 1}/${rounds}: ${target.name.padEnd(11)} ` +
          `${cpuMicrosPerRequest.toFixed(0).padStart(5)} µs  ${requestsPerSecond.toFixed(0).padStart(6)}/s`,
      )
    }
    samples.push(sample)
  }
  return { name: row.name, medians: mediansOf(samples), rounds: samples }
}

/** The median time to the first answer over some starts, of which the last continues to run. */
async function medianStart(
  start: () => Promise<RouterProcess>,
  kept: RouterProcess[] | null = null,
): Promise<number> {
  const timesMs: number[] = []
  for (let each = 1; each <= routerStarts; each++) {
    const started = await start()
    timesMs.push(started.firstAnswerMs)
    if (kept && each === routerStarts) kept.push(started)
    else await started.child.stop()
  }
  return median(timesMs)
}
