// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The programs of a Kubernetes API without machines. */
export const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const
export type Program = (typeof programs)[number]
export type Assets = Readonly<Record<Program, string>>

type Environment = Readonly<Record<string, string | undefined>>

/** A Go module of ours that pins what it takes to build some of the programs. */
export interface PinnedModule {
  readonly folder: string
  /** `1.34.4` */
  readonly version: string
}

/** The pinned versions: they stand in the `go.mod` files of `modules/` and nowhere else. */
export function pinnedModule(name: 'kubernetes' | 'etcd'): PinnedModule {
  const folder = join(import.meta.dirname, 'modules', name)
  const path = name === 'etcd' ? 'go.etcd.io/etcd/server/v3' : 'k8s.io/kubernetes'
  const text = readFileSync(join(folder, 'go.mod'), 'utf8')
  const version = text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^require /, '')
        .split(' '),
    )
    .find(([module]) => module === path)?.[1]
  if (!version) throw new Error(`${folder}/go.mod does not require ${path}`)
  return { folder, version: version.replace(/^v/, '') }
}

/** Where a program lies once it has been built. Shared by all checkouts of one user. */
export function builtPathOf(program: Program, env: Environment): string {
  const root = env['RPC_ROUTER_CACHE'] ?? join(homedir(), '.cache', 'rpc-router')
  const cache = join(root, `kube-${pinnedModule('kubernetes').version}`)
  if (program !== 'etcd') return join(cache, 'bin', program)
  return join(cache, 'module', `etcd@v${pinnedModule('etcd').version}`, 'etcd')
}

/**
 * The programs that are there: those of the folder that KUBEBUILDER_ASSETS names, then those that were
 * built. Null for each one that is not.
 */
export async function findAssets(env: Environment): Promise<Record<Program, string | null>> {
  const find = async (program: Program) => {
    const given = env['KUBEBUILDER_ASSETS']
    const places = [...(given ? [join(given, program)] : []), builtPathOf(program, env)]
    for (const path of places) if (await isProgram(path)) return path
    return null
  }
  const found = await Promise.all(programs.map(async (name) => [name, await find(name)] as const))
  return Object.fromEntries(found) as Record<Program, string | null>
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
