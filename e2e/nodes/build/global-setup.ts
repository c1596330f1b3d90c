// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { buildPrograms } from './build-programs.ts'
import { nodeCache } from './node-cache.ts'
import { quickPrograms } from './go-programs.ts'
import { lackingTools } from './toolchain.ts'

/** Builds the programs of the quick suites, before the first run. */
export async function setup(): Promise<void> {
  const cache = nodeCache(process.env)
  const missing = cache.missing.filter((name) => quickPrograms.some((quick) => quick === name))
  if (missing.length === 0) return
  const lacking = lackingTools(process.env)
  if (lacking.length > 0) throw new Error(lacking.join('\n'))
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  say(`Building ${missing.join(', ')} from Go modules, once: some two minutes on two cores.`)
  await buildPrograms(cache, missing, say)
}
