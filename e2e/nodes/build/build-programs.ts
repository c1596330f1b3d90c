// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type GoProgramName, goPrograms } from './go-programs.ts'
import { modulesDirectory, type NodeCache } from './node-cache.ts'

/** wasmd loads its VM from a library beside it in the cache, also after the cache is moved. */
const besideItself = process.platform === 'darwin' ? '@loader_path' : '$ORIGIN'

/** Builds these programs, one after the other. Reports progress through `say`. */
export async function buildPrograms(
  cache: NodeCache,
  names: readonly GoProgramName[],
  say: (line: string) => void,
): Promise<void> {
  await mkdir(join(cache.directory, 'bin'), { recursive: true })
  for (const name of names) {
    say(`building ${name} ...`)
    const startedMs = performance.now()
    await copyFiles(name, cache.directory)
    await appear(cache.program(name), (path) => buildProgram(name, path))
    say(`${name} built in ${Math.round((performance.now() - startedMs) / 1000)} s`)
  }
}

async function buildProgram(name: GoProgramName, path: string): Promise<void> {
  const { module, source, usesC } = goPrograms[name]
  const linker = usesC ? `-s -w -extldflags=-Wl,-rpath,${besideItself}` : '-s -w'
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', `-ldflags=${linker}`]
  const cwd = join(modulesDirectory, module)
  const child = spawn('go', ['build', ...flags, '-o', path, source], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: usesC ? '1' : '0' },
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0)
    throw new Error(`${name} could not be built in ${cwd}; the words of go are above (${code})`)
}

async function copyFiles(name: GoProgramName, directory: string): Promise<void> {
  const { files, module } = goPrograms[name]
  const cwd = join(modulesDirectory, module)
  for (const file of files) {
    // Fetches the module when it is not there yet, and prints where it is.
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', file.module], {
      cwd,
    })
    const { Dir } = JSON.parse(stdout) as { Dir: string }
    const target = join(directory, file.to)
    await mkdir(dirname(target), { recursive: true })
    await appear(target, (path) => copyFile(join(Dir, file.path), path))
  }
}

/** Creates a file atomically, also if the process is interrupted. */
async function appear(path: string, make: (path: string) => Promise<void>): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await make(unfinished)
  await rename(unfinished, path)
}
