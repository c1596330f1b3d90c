// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { ChildProcesses } from '../../processes/child-processes.ts'
import type { GoProgramName } from '../build/go-programs.ts'
import { builtNodes } from '../build/node-cache.ts'
import type { NodeSite } from '../node-site.ts'

/** The nodes and routers of one test file, which end with its tests. */
export interface Ground extends NodeSite {
  /** Other resources, which are closed in reverse order before the nodes end. */
  readonly stack: AsyncDisposableStack
}

/**
 * Opens the ground of a test file. It retains the logs if a test failed.
 * @param programs required programs; default: all
 */
export async function openGround(programs?: readonly GoProgramName[]): Promise<Ground> {
  const cache = builtNodes(process.env, programs)
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-real-nodes-'))
  const stop = new AbortController()
  const stack = new AsyncDisposableStack()
  const children = stack.use(new ChildProcesses(directory))
  stack.defer(() => stop.abort(new Error('the tests are over')))
  let hasBegun = false
  beforeEach(() => {
    hasBegun = true
  })
  let hasFailed = false
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail'
  })
  afterAll(async () => {
    await stack.disposeAsync()
    // After a failed setup no test has begun.
    if (hasBegun && !hasFailed) await rm(directory, { recursive: true, force: true })
    else process.stderr.write(`The logs of the nodes are kept in ${directory}\n`)
  })
  return { cache, directory, children, stack, signal: stop.signal }
}
