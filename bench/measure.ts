// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { usageOf } from './process-usage.ts'
import { type BenchResult, median, mediansOf, thisMachine } from './report.ts'
import { type Load, LoadRunner, type Sample } from './rounds.ts'
import { startNginx, startPassthrough, startUpstreams, type Target } from './targets.ts'

const upstreamCount = 3
const routerStarts = 3
const warmUpSeconds = 2
const idleMs = 3_000

export interface Plan {
  readonly rounds: number
  readonly load: Load
  /** The nginx to run; null leaves it out. */
  readonly nginx: string | null
  /** Where config files and logs go. */
  readonly directory: string
  /** Told what happens, for a person who waits. */
  progress(text: string): void
}

/**
 * Starts everything, warms every target up, then loads the targets in turns, so that what else the
 * machine does hits all of them alike. Rejects when any answer was wrong.
 */
export async function measure(plan: Plan): Promise<BenchResult> {
  const { directory, load, rounds } = plan
  const { signal } = new AbortController()
  await using children = new ChildProcesses(directory)
  const setting = { children, directory, signal }
  const upstreams = await startUpstreams(upstreamCount, setting)

  plan.progress('router: start-up and idle memory')
  const launches: number[] = []
  const launch = async () => {
    const started = await startRouter({ ...setting, upstreams })
    launches.push(started.firstAnswerMs)
    return started
  }
  let router = await launch()
  while (launches.length < routerStarts) {
    await router.child.stop()
    router = await launch()
  }
  const { child, url } = router
  await sleep(idleMs)
  const idleBytes = usageOf(child.pid).residentBytes

  const targets: Target[] = [{ name: 'router', port: Number(new URL(url).port), child }]
  if (plan.nginx !== null) targets.push(await startNginx(plan.nginx, upstreams, setting))
  targets.push(await startPassthrough(upstreams, setting))

  const runner = new LoadRunner(children, load)
  for (const target of targets) {
    plan.progress(`warm-up: ${target.name}`)
    await runner.run(target, warmUpSeconds)
  }
  const samples: Record<string, Sample>[] = []
  for (let round = 0; round < rounds; round++) {
    const sample: Record<string, Sample> = {}
    for (const target of targets) {
      const measured = await runner.run(target)
      const { cpuMicrosPerRequest, requestsPerSecond } = measured
      sample[target.name] = measured
      plan.progress(
        `round ${round + 1}/${rounds}: ${target.name.padEnd(11)} ` +
          `${cpuMicrosPerRequest.toFixed(0).padStart(4)} µs  ${requestsPerSecond.toFixed(0).padStart(6)}/s`,
      )
    }
    samples.push(sample)
  }
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: thisMachine(),
    load: { ...load, rounds },
    router: { firstAnswerMs: median(launches), idleBytes },
    medians: mediansOf(samples),
    rounds: samples,
  }
}
