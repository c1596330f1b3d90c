// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { median } from './report.ts'
import { LoadRunner } from './rounds.ts'
import { startBareAnswer, startUpstreams, type Target } from './targets.ts'

/*
 * What a hit and a miss cost: CPU per call of the router with its cache, beside a bare answer of node:http and the
 * router without a cache.
 *
 *   node bench/cache.ts [--rounds 3] [--seconds 3]
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
  },
})
const warmUpSeconds = 5
const directory = await mkdtemp(join(tmpdir(), 'rpc-router-cache-'))
try {
  await run()
} finally {
  await rm(directory, { recursive: true })
}

async function run(): Promise<void> {
  await using children = new ChildProcesses(directory)
  const setting = { children, directory, signal: new AbortController().signal }
  const upstreams = await startUpstreams(2, setting)
  const routerWith = async (name: string, bytes: string): Promise<Target> => {
    const flags = ['--cache-bytes', bytes]
    const { child, url } = await startRouter({ ...setting, upstreams, flags })
    return { name, port: Number(new URL(url).port), child }
  }
  const cached = await routerWith('cached', '128MiB')
  const plain = await routerWith('plain', '0')
  const bare = await startBareAnswer(setting)
  const runner = new LoadRunner(children)
  const rows = [
    ['hit', 'same', cached, bare],
    ['miss', 'read', cached, plain],
  ] as const
  for (const [name, shape, one, other] of rows) {
    const flags = ['--shape', shape]
    const load = { connections: 64, seconds: Number(values.seconds), flags }
    for (const target of [one, other]) await runner.run(target, { ...load, seconds: warmUpSeconds })
    const ratios: number[] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      const own = (await runner.run(one, load)).cpuMicrosPerRequest
      const beside = (await runner.run(other, load)).cpuMicrosPerRequest
      ratios.push(own / beside)
      process.stderr.write(`${name}: ${own.toFixed(1)} µs beside ${beside.toFixed(1)} µs\n`)
    }
    process.stdout.write(`${name}: ${median(ratios).toFixed(2)} times ${other.name}\n`)
  }
}
