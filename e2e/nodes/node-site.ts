// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChildProcesses } from '../processes/child-processes.ts'
import type { NodeCache } from './build/node-cache.ts'

/** The environment of a run's nodes: programs, files and lifetime. */
export interface NodeSite {
  readonly cache: NodeCache
  readonly children: ChildProcesses
  /** Directory with a folder and an output file `NAME.log` per node. */
  readonly directory: string
  readonly signal: AbortSignal
}

/** Creates the folder of a node, and returns its path. */
export async function makeHome(site: NodeSite, name: string): Promise<string> {
  const home = join(site.directory, name)
  await mkdir(home, { recursive: true })
  return home
}
