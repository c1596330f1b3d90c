// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { startSimNode } from '../e2e/upstream-sim/sim-node.ts'
import { LoadRunner } from './rounds.ts'
import { startPassthrough, startUpstreams } from './targets.ts'

let directory: string
const { signal } = new AbortController()
const load = { connections: 4, seconds: 1 }
const noUsage = () => ({ cpuSeconds: 0, peakBytes: 0, residentBytes: 0 })

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rpc-router-bench-test-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

test('the mock upstreams answer every request through the pass-through correctly', async () => {
  await using children = new ChildProcesses(directory)
  const upstreams = await startUpstreams(2, { children, directory, signal })
  const target = await startPassthrough(upstreams, { children, directory, signal })
  const sample = await new LoadRunner(children, { usageOf: noUsage }).run(target, load)
  expect(sample.errors).toBe(0)
  expect(sample.requests).toBeGreaterThan(0)
  expect(sample.p99Ms).toBeGreaterThanOrEqual(sample.p50Ms)
})

test.each(['kept', 'batch', 'logs', 'megabyte'] as const)(
  'requests of shape %s have exact answers',
  async (shape) => {
    await using children = new ChildProcesses(directory)
    const upstreams = await startUpstreams(1, { children, directory, signal })
    const target = await startPassthrough(upstreams, { children, directory, signal })
    const flags = ['--shape', shape]
    const sample = await new LoadRunner(children, { usageOf: noUsage }).run(target, {
      ...load,
      flags,
    })
    expect(sample.errors).toBe(0)
    expect(sample.requests).toBeGreaterThan(0)
  },
)

test('a wrong answer of a target fails the run, and the message shows it', async () => {
  await using children = new ChildProcesses(directory)
  await using wrong = await startSimNode({ chain: createChainModel() })
  const child = await children.start({ name: 'version', command: process.execPath, args: ['-v'] })
  const running = new LoadRunner(children, { usageOf: noUsage }).run(
    { name: 'wrong', port: wrong.port, child },
    load,
  )
  await expect(running).rejects.toThrow(/wrong answered \d+ of \d+ requests wrongly, .*"200 /)
})
