// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setPriority } from 'node:os'
import { buildPrograms } from './build/build-programs.ts'
import { nodeCache } from './build/node-cache.ts'
import { lackingTools } from './build/toolchain.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const cache = nodeCache(process.env)
if (cache.missing.length > 0) {
  const lacking = lackingTools(process.env)
  if (lacking.length > 0) {
    for (const sentence of lacking) process.stderr.write(`rpc-router: ${sentence}\n`)
    process.exit(1)
  }
  setPriority(10)
  await buildPrograms(cache, say)
}
say(`nodes are in ${cache.directory}`)
