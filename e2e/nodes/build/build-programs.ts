// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { copyFile, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildGo } from '../../processes/build-go.ts'
import { type GoProgramName, goPrograms } from './go-programs.ts'
import { modulesDirectory, type NodeCache } from './node-cache.ts'

/** wasmd loads its VM from a library in its own folder, which works even in a moved cache. */
const besideItself = process.platform === 'darwin' ? '@loader_path' : '$ORIGIN'

/** Builds these programs in sequence. Reports progress through `say`. */
export async function buildPrograms(
  cache: NodeCache,
  names: readonly GoProgramName[],
  say: (line: string) => void,
): Promise<void> {
  await mkdir(join(cache.directory, 'bin'), { recursive: true })
  for (const name of names) {
    await copyFiles(name, cache.directory)
    await appear(cache.program(name), (path) => buildProgram(name, path, say))
  }
}

function buildProgram(
  name: GoProgramName,
  path: string,
  say: (line: string) => void,
): Promise<void> {
  const { module, source, usesC } = goPrograms[name]
  const linker = usesC ? `-s -w -extldflags=-Wl,-rpath,${besideItself}` : '-s -w'
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', `-ldflags=${linker}`]
  const args = ['-C', join(modulesDirectory, module), ...flags, '-o', path, source]
  return buildGo({ name, args, env: { ...process.env, CGO_ENABLED: usesC ? '1' : '0' }, say })
}

async function copyFiles(name: GoProgramName, directory: string): Promise<void> {
  const { files, module } = goPrograms[name]
  const cwd = join(modulesDirectory, module)
  for (const file of files) {
    // Fetches the module if necessary, and prints its path.
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', file.module], {
      cwd,
    })
    const { Dir } = JSON.parse(stdout) as { Dir: string }
    const target = join(directory, file.to)
    await mkdir(dirname(target), { recursive: true })
    await appear(target, (path) => copyFile(join(Dir, file.path), path))
  }
}

/** Creates a file atomically, even if the process is interrupted. */
async function appear(path: string, make: (path: string) => Promise<void>): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await make(unfinished)
  await rename(unfinished, path)
}
