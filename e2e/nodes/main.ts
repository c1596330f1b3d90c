// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProcesses } from '../processes/child-processes.ts'
import { interruptedExitCode, interruptSignal, wordsOf } from '../processes/interrupt.ts'
import { buildPrograms } from './build/build-programs.ts'
import { type NodeCache, nodeCache } from './build/node-cache.ts'
import { lackingTools } from './build/toolchain.ts'
import { prepareHubChain } from './hub-chain.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const complain = (line: string) => void process.stderr.write(`rpc-router: ${line}\n`)

const signal = interruptSignal()

try {
  if (!(await prepare(nodeCache(process.env), signal))) process.exitCode = 1
} catch (error) {
  process.exitCode = signal.aborted ? interruptedExitCode : 1
  complain(signal.aborted ? 'stopped' : wordsOf(error))
}

/** Builds missing programs. Returns false, with a message, if the machine lacks a tool. */
async function prepare(cache: NodeCache, signal: AbortSignal): Promise<boolean> {
  if (cache.missing.length > 0) {
    const lacking = lackingTools(process.env)
    lacking.forEach(complain)
    if (lacking.length > 0) return false
    say(`Go programs for tests go to ${cache.directory}; the first time takes some ten minutes.`)
    // A low priority lets the user do other work.
    setPriority(10)
    await buildPrograms(cache, cache.missing, say)
    setPriority(0)
  }
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-nodes-'))
  try {
    await using children = new ChildProcesses(directory)
    await prepareHubChain({ cache, children, directory, signal }, say)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  say(`The nodes are ready in ${cache.directory}`)
  return true
}
