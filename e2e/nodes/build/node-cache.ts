// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GoProgramName, goPrograms } from './go-programs.ts'

/** Folder of the modules that pin the versions of `goPrograms`. */
export const modulesDirectory = fileURLToPath(new URL('../modules', import.meta.url))

/** The programs of `make nodes`. */
export interface NodeCache {
  readonly directory: string
  /** The path of a program, which may be missing. */
  program(name: GoProgramName): string
  /** Programs without a build. */
  readonly missing: readonly GoProgramName[]
}

/**
 * The cache for these versions on this platform. Other versions have other folders.
 * @param environment `RPC_ROUTER_CACHE` replaces `~/.cache/rpc-router`
 */
export function nodeCache(environment: Readonly<NodeJS.ProcessEnv>): NodeCache {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}\n`)
  for (const module of readdirSync(modulesDirectory).toSorted())
    for (const file of ['go.mod', 'go.sum'])
      hash.update(readFileSync(join(modulesDirectory, module, file)))
  const root = environment['RPC_ROUTER_CACHE'] ?? join(homedir(), '.cache', 'rpc-router')
  const directory = join(root, `nodes-${hash.digest('hex').slice(0, 12)}`)
  const program = (name: GoProgramName) => join(directory, 'bin', name)
  return {
    directory,
    program,
    get missing() {
      const names = Object.keys(goPrograms) as GoProgramName[]
      return names.filter((name) =>
        [program(name), ...goPrograms[name].files.map(({ to }) => join(directory, to))].some(
          (path) => !existsSync(path),
        ),
      )
    },
  }
}

/** The cache with these programs. @throws Error with instructions if one is missing */
export function builtNodes(
  environment: Readonly<NodeJS.ProcessEnv>,
  needed: readonly GoProgramName[] = Object.keys(goPrograms) as GoProgramName[],
): NodeCache {
  const cache = nodeCache(environment)
  const lacking = cache.missing.filter((name) => needed.includes(name))
  if (lacking.length > 0)
    throw new Error(
      `not built yet: ${lacking.join(', ')}. Build them once with: make nodes (looked in ${cache.directory})`,
    )
  return cache
}
