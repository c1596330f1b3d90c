// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProcesses } from '../processes/child-processes.ts'
import { buildPrograms } from './build/build-programs.ts'
import { nodeCache } from './build/node-cache.ts'
import { lackingTools } from './build/toolchain.ts'
import { prepareHubChain } from './hub-chain.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const cache = nodeCache(process.env)
if (cache.missing.length > 0) {
  const lacking = lackingTools(process.env)
  for (const sentence of lacking) process.stderr.write(`rpc-router: ${sentence}\n`)
  if (lacking.length > 0) process.exit(1)
  say(`Go programs for tests go to ${cache.directory}; the first time takes some ten minutes.`)
  // Whoever waits for this does other things meanwhile.
  setPriority(10)
  await buildPrograms(cache, say)
}
const directory = await mkdtemp(join(tmpdir(), 'rpc-router-nodes-'))
const signal = AbortSignal.timeout(120_000)
{
  await using children = new ChildProcesses(directory)
  await prepareHubChain({ cache, children, directory, signal }, say)
}
await rm(directory, { recursive: true, force: true })
say(`The nodes are ready in ${cache.directory}.`)
