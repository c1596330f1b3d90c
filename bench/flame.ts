// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdirSync, readdirSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { callTree, type CpuProfile, type Frame, ownerOf, selfTimes } from './cpu-profile.ts'
import { flameGraph } from './flame-graph.ts'
import { LoadRunner } from './rounds.ts'
import { scratchDirectory } from './scratch-directory.ts'
import { startUpstreams } from './targets.ts'

/*
 * A CPU profile of the router under the benchmark's load: a flame graph, and self times.
 *
 *   make flame
 */

const connections = 64
const seconds = 8
const sampleMicros = 250
const shownRows = 25
const output = fileURLToPath(new URL('../.cache/flame/', import.meta.url))
const directory = scratchDirectory('flame')
try {
  await profileRouter()
  await report()
} catch (error) {
  process.stderr.write(`flame: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

/** Writes `router.cpuprofile` to the output folder. */
async function profileRouter(): Promise<void> {
  await using children = new ChildProcesses(directory)
  const { signal } = new AbortController()
  const setting = { children, directory, signal }
  const upstreams = await startUpstreams(3, setting)
  const nodeFlags = [
    '--cpu-prof',
    `--cpu-prof-dir=${directory}`,
    `--cpu-prof-interval=${sampleMicros}`,
  ]
  const env = { NODE_OPTIONS: nodeFlags.join(' ') }
  const { child, url } = await startRouter({ ...setting, upstreams, env })
  const runner = new LoadRunner(children)
  const target = { name: 'router', port: Number(new URL(url).port), child }
  await runner.run(target, { connections, seconds })
  await child.stop()
  const profile = readdirSync(directory).find((name) => name.endsWith('.cpuprofile'))
  if (profile === undefined) throw new Error(`the router left no profile:\n${child.tail()}`)
  mkdirSync(output, { recursive: true })
  await copyFile(join(directory, profile), join(output, 'router.cpuprofile'))
}

async function report(): Promise<void> {
  const text = await readFile(join(output, 'router.cpuprofile'), 'utf8')
  const root = callTree(JSON.parse(text) as CpuProfile)
  await writeFile(join(output, 'router.svg'), flameGraph(root))
  const print = (title: string, keyOf: (frame: Frame) => string) => {
    process.stdout.write(`\n${title}\n`)
    for (const [key, micros] of selfTimes(root, keyOf).slice(0, shownRows))
      process.stdout.write(
        `${((micros / root.totalMicros) * 100).toFixed(1).padStart(6)} %  ${key}\n`,
      )
  }
  print('Self time by owner', ownerOf)
  print('Self time by function', ({ name, where }) => `${name}  ${where}`)
  process.stdout.write(`\n${join(output, 'router.svg')}\n${join(output, 'router.cpuprofile')}\n`)
}
