// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type GoProgramName, goPrograms } from './go-programs.ts'
import { modulesDirectory, type NodeCache } from './node-cache.ts'

/** wasmd loads its VM from a library that lies beside it in the cache, wherever that is moved. */
const besideItself = process.platform === 'darwin' ? '@loader_path' : '$ORIGIN'

/** Builds what the cache lacks, one after the other. Says what it does through `say`. */
export async function buildPrograms(cache: NodeCache, say: (line: string) => void): Promise<void> {
  await mkdir(join(cache.directory, 'bin'), { recursive: true })
  for (const name of cache.missing) {
    say(`building ${name} ...`)
    const startedMs = performance.now()
    await buildProgram(name, cache.program(name))
    say(`${name} built in ${Math.round((performance.now() - startedMs) / 1000)} s`)
  }
}

/** A program is there as a whole or not at all, whoever interrupts the build. */
async function buildProgram(name: GoProgramName, path: string): Promise<void> {
  const { module, source, usesC } = goPrograms[name]
  const unfinished = `${path}.${process.pid}`
  const linker = usesC ? `-s -w -extldflags=-Wl,-rpath,${besideItself}` : '-s -w'
  await run(
    'go',
    ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', `-ldflags=${linker}`, '-o', unfinished, source],
    join(modulesDirectory, module),
    { CGO_ENABLED: usesC ? '1' : '0' },
  )
  await rename(unfinished, path)
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${code} in ${cwd}`)
}
