// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** The programs of a Kubernetes API without machines, and those that ask it. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kubectl',
  'helm',
] as const
export type Program = (typeof programs)[number]
export type Assets = Readonly<Record<Program, string>>

type Environment = Readonly<Record<string, string | undefined>>

/** A Go module of this project that pins the versions of some of the programs. */
export interface PinnedModule {
  readonly folder: string
  /** `1.34.4` */
  readonly version: string
}

/** The folders of `modules/`, and the Go modules that they pin. */
const modulePaths = {
  kubernetes: 'k8s.io/kubernetes',
  etcd: 'go.etcd.io/etcd/server/v3',
  helm: 'helm.sh/helm/v4',
} as const
type ModuleName = keyof typeof modulePaths

/** The pinned versions, from the `go.mod` files of `modules/`. */
export function pinnedModule(name: ModuleName): PinnedModule {
  const folder = join(import.meta.dirname, 'modules', name)
  const path = modulePaths[name]
  const text = readFileSync(join(folder, 'go.mod'), 'utf8')
  const version = new RegExp(`^(?:require |\\s+)${path} v(\\S+)`, 'm').exec(text)?.[1]
  if (!version) throw new Error(`${folder}/go.mod does not require ${path}`)
  return { folder, version }
}

/** The path of a built program. Shared by all checkouts of one user. */
function builtPathOf(program: Program, env: Environment): string {
  const root = env['RPC_ROUTER_CACHE'] ?? join(homedir(), '.cache', 'rpc-router')
  const cache = join(root, `kube-${pinnedModule('kubernetes').version}`)
  const module = moduleOf(program)
  if (module === 'kubernetes') return join(cache, 'bin', program)
  return join(cache, 'module', `${module}@v${pinnedModule(module).version}`, program)
}

function moduleOf(program: Program): ModuleName {
  return program === 'etcd' || program === 'helm' ? program : 'kubernetes'
}

/**
 * The available programs: those of the folder that KUBEBUILDER_ASSETS names, then those that were
 * built. Null for each missing one.
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

/**
 * The programs, those that are missing built from the pinned modules: minutes when Go's caches are
 * empty, half a minute when they are not.
 * @throws Error that says what to do when there is no Go
 */
export async function ensureAssets(env: NodeJS.ProcessEnv): Promise<Assets> {
  const found = await findAssets(env)
  const missing = programs.filter((program) => found[program] === null)
  if (missing.length > 0) {
    process.stderr.write(
      `Building ${missing.join(', ')} from Go modules, once. This takes up to ten minutes.\n`,
    )
    for (const [module, wanted] of Map.groupBy(missing, moduleOf)) await build(module, wanted, env)
    for (const program of missing) found[program] = builtPathOf(program, env)
  }
  return found as Assets
}

async function build(
  name: ModuleName,
  wanted: readonly Program[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { folder, version } = pinnedModule(name)
  const target = dirname(builtPathOf(wanted[0] as Program, env))
  await mkdir(target, { recursive: true })
  // Built aside and then moved, so that no process sees a part of a program.
  const aside = await mkdtemp(join(target, '.building-'))
  try {
    const path = modulePaths[name]
    const packages = name === 'etcd' ? [path] : wanted.map((program) => `${path}/cmd/${program}`)
    const output = name === 'etcd' ? join(aside, 'etcd') : `${aside}/`
    const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', linkFlags(version)]
    await runGo(['build', '-C', folder, ...flags, '-o', output, ...packages], env)
    for (const program of wanted) await rename(join(aside, program), join(target, program))
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** Without them the programs of Kubernetes call themselves v0.0.0-master. What a program does not know, Go ignores. */
function linkFlags(version: string): string {
  const [major, minor] = version.split('.')
  const set = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`
  return [
    '-s -w',
    set('gitVersion', `v${version}`),
    set('gitMajor', major),
    set('gitMinor', minor),
    `-X helm.sh/helm/v4/internal/version.version=v${version}`,
  ].join(' ')
}

async function runGo(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const go = spawn('go', args, { env: { ...env, CGO_ENABLED: '0' }, stdio: ['ignore', 2, 2] })
  const code = await new Promise<number | null>((resolve, reject) => {
    go.once('error', (cause: NodeJS.ErrnoException) => {
      reject(cause.code === 'ENOENT' ? new Error(withoutGo, { cause }) : cause)
    })
    go.once('exit', resolve)
  })
  if (code !== 0)
    throw new Error(`go ${args[0]} failed with exit code ${code}; its words are above`)
}

const withoutGo = `The tests of the operator need a real Kubernetes API server, and there is neither one nor Go to build it. Either
- install Go (https://go.dev/dl) and try again: the programs are built once and kept, or
- set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager, kubectl and helm.
Everything else is tested by: make test-unit`
