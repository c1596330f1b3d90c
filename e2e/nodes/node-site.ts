// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Child, ChildProcesses } from '../processes/child-processes.ts'
import { waitUntil } from '../processes/wait-until.ts'
import type { NodeCache } from './build/node-cache.ts'

const startTimeoutMs = 60_000

/** The environment of the nodes of one run: their programs, their files, and their end. */
export interface NodeSite {
  readonly cache: NodeCache
  readonly children: ChildProcesses
  /** Holds a folder for each node, and its output in `NAME.log`. */
  readonly directory: string
  readonly signal: AbortSignal
}

/** Makes the folder of a node and returns its path. */
export async function makeHome(site: NodeSite, name: string): Promise<string> {
  const home = join(site.directory, name)
  await mkdir(home, { recursive: true })
  return home
}

/** Waits until the probe says that a node serves. Rejects with its last output if it ends instead. */
export async function untilItServes(
  child: Child,
  signal: AbortSignal,
  probe: () => Promise<boolean>,
): Promise<void> {
  const over = new AbortController()
  void child.ended.then(() => {
    over.abort(new Error(`${child.name} ended by itself:\n${child.tail()}`))
  })
  const either = AbortSignal.any([signal, over.signal])
  await waitUntil(`${child.name} serves`, startTimeoutMs, either, probe)
}
