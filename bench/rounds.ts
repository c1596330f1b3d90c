// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import type { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { type Usage, usageOf } from './process-usage.ts'
import type { Target } from './targets.ts'

const balanceLoad = fileURLToPath(new URL('load-generator.ts', import.meta.url))
const addressesPerRun = 10_000_000

/** Result of one load run against one target. */
export interface Sample {
  readonly requests: number
  readonly errors: number
  readonly errorSamples: Readonly<Record<string, number>>
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicrosPerRequest: number
  readonly peakBytes: number
}

export interface Load {
  readonly connections: number
  readonly seconds: number
  /** Further flags of the generator. */
  readonly flags?: readonly string[]
}

interface RunnerOptions {
  readonly usageOf?: (pid: number) => Usage
  /** Load script with the flags and the output of `load-generator.ts`, which is the default. */
  readonly generator?: string
}

/** Runs the load in separate processes, and measures the target's resource usage. */
export class LoadRunner {
  readonly #children: ChildProcesses
  readonly #usageOf: (pid: number) => Usage
  readonly #generator: string
  #runs = 0

  constructor(children: ChildProcesses, options: RunnerOptions = {}) {
    this.#children = children
    this.#usageOf = options.usageOf ?? usageOf
    this.#generator = options.generator ?? balanceLoad
  }

  /** Runs a load once. Rejects on any missing or wrong answer, because such a run is invalid. */
  async run(target: Target, load: Load): Promise<Sample> {
    const run = this.#runs++
    const before = this.#usageOf(target.child.pid)
    const child = await this.#children.start({
      name: `load-${run}`,
      command: process.execPath,
      args: [
        this.#generator,
        ...(load.flags ?? []),
        ...['--port', [target.port, target.otherPort ?? []].flat().join()],
        ...['--connections', String(load.connections)],
        ...['--seconds', String(load.seconds), '--first', String(run * addressesPerRun)],
      ],
    })
    await child.ended
    const after = this.#usageOf(target.child.pid)
    const output = child.tail()
    if (!output.startsWith('{')) throw new Error(`the load on ${target.name} failed:\n${output}`)
    const result = JSON.parse(output) as Omit<Sample, 'cpuMicrosPerRequest' | 'peakBytes'>
    if (result.errors > 0 || result.requests === 0)
      throw new Error(
        `${target.name} answered ${result.errors} of ${result.requests} requests wrongly, for example ` +
          JSON.stringify(result.errorSamples),
      )
    return {
      ...result,
      cpuMicrosPerRequest: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / result.requests,
      peakBytes: after.peakBytes,
    }
  }
}
