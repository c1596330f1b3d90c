// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildGo } from '../processes/build-go.ts'

/** KUBE selects another version of the servers, such as 1.31. The clients stay the same. */
const servers = ['kubernetes', process.env['KUBE']].filter(Boolean).join('-')

/** Per program: the folder of `modules/` that pins it, its Go package, and the package to build. */
const packages = {
  etcd: ['etcd', 'go.etcd.io/etcd/server/v3'],
  'kube-apiserver': [servers, 'k8s.io/kubernetes/cmd/kube-apiserver'],
  'kube-controller-manager': [servers, 'k8s.io/kubernetes/cmd/kube-controller-manager'],
  kubectl: ['kubernetes', 'k8s.io/kubernetes/cmd/kubectl'],
  helm: ['helm', 'helm.sh/helm/v4/cmd/helm'],
  helm3: ['helm3', 'helm.sh/helm/v3/cmd/helm'],
  promtool: ['prometheus', 'github.com/prometheus/prometheus/cmd/promtool'],
  prometheus: ['prometheus', 'github.com/prometheus/prometheus/cmd/prometheus'],
  collector: ['collector', 'go.opentelemetry.io/collector/otelcol', '.'],
} as const
export type Program = keyof typeof packages

/** Programs that take minutes to build, which only slow tests use. */
const slow: readonly Program[] = ['helm3', 'promtool', 'prometheus', 'collector']
/** The programs of a Kubernetes API without machines, and its clients. */
export const programs = (Object.keys(packages) as Program[]).filter((name) => !slow.includes(name))
export type Assets = Readonly<Record<Program, string>>

type Environment = Readonly<Record<string, string | undefined>>

/** A Go module of this project that pins the version of some of the programs. */
export interface PinnedModule {
  readonly folder: string
  readonly version: string
}

/** The module that pins a program, with the version of its `go.mod`. */
export function pinnedModule(program: Program): PinnedModule {
  const [module, name] = packages[program]
  const folder = join(import.meta.dirname, 'modules', module)
  const required = readFileSync(join(folder, 'go.mod'), 'utf8').matchAll(
    /^(?:require |\s+)(\S+) v(\S+)/gm,
  )
  const version = [...required].find(([, path]) => `${name}/`.startsWith(`${path}/`))?.[2]
  if (!version) throw new Error(`${folder}/go.mod does not require ${name}`)
  return { folder, version }
}

/** The path of a built program. Shared by all checkouts of one user. */
function builtPathOf(program: Program, env: Environment): string {
  const root = env['RPC_ROUTER_CACHE'] ?? join(homedir(), '.cache', 'rpc-router')
  const cache = join(root, `kube-${pinnedModule('kubectl').version}`)
  const [module] = packages[program]
  if (module === 'kubernetes') return join(cache, 'bin', program)
  return join(cache, 'module', `${module}@v${pinnedModule(program).version}`, program)
}

/**
 * The available programs: first from the folder in KUBEBUILDER_ASSETS, then from earlier builds. A
 * missing program is null.
 */
export async function findAssets(env: Environment): Promise<Record<Program, string | null>> {
  const find = async (program: Program) => {
    const given = env['KUBEBUILDER_ASSETS']
    const places = [...(given ? [join(given, program)] : []), builtPathOf(program, env)]
    for (const path of places) if (await isProgram(path)) return path
    return null
  }
  const all = Object.keys(packages) as Program[]
  const found = await Promise.all(all.map(async (name) => [name, await find(name)] as const))
  return Object.fromEntries(found) as Record<Program, string | null>
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * The programs. Missing ones are built from the pinned modules, which takes minutes with empty Go
 * caches, and half a minute otherwise.
 * @throws Error with instructions if Go is missing
 */
export async function ensureAssets(
  env: NodeJS.ProcessEnv,
  wanted: readonly Program[] = programs,
): Promise<Assets> {
  const found = await findAssets(env)
  const missing = wanted.filter((program) => found[program] === null)
  if (missing.length > 0)
    say(`Building ${missing.join(', ')} from Go modules, once: some eight minutes on two cores.`)
  for (const program of missing) found[program] = await build(program, env)
  return found as Assets
}

async function build(program: Program, env: NodeJS.ProcessEnv): Promise<string> {
  const { folder, version } = pinnedModule(program)
  const path = builtPathOf(program, env)
  await mkdir(dirname(path), { recursive: true })
  // Builds in a separate folder and renames, so that no process finds a partial program.
  const aside = await mkdtemp(join(dirname(path), '.building-'))
  try {
    // promtool and Prometheus need no service discovery here.
    const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-tags', 'remove_all_sd']
    const output = ['-ldflags', linkFlags(version), '-o', join(aside, program)]
    const [, name, source = name] = packages[program]
    const args = ['-C', folder, ...flags, ...output, source]
    await buildGo({ name: program, args, env: { ...env, CGO_ENABLED: '0' }, say }).catch(
      (cause: NodeJS.ErrnoException) => {
        throw cause.code === 'ENOENT' ? new Error(withoutGo, { cause }) : cause
      },
    )
    await rename(join(aside, program), path)
    return path
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** Sets the version, which is v0.0.0-master by default. Go ignores variables that do not exist. */
function linkFlags(version: string): string {
  const [major, minor] = pinnedModule('kubectl').version.split('.')
  const set = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`
  return [
    '-s -w',
    set('gitVersion', `v${version}`),
    set('gitMajor', version.split('.')[0]),
    set('gitMinor', version.split('.')[1]),
    ...['v3', 'v4'].map((v) => `-X helm.sh/helm/${v}/internal/version.version=v${version}`),
    // The Kubernetes version for which Helm 3 renders without a cluster.
    `-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=${major}`,
    `-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=${minor}`,
  ].join(' ')
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const withoutGo = `The tests of the operator need a real Kubernetes API server, and there is neither one nor Go to build it. Either
- install Go (https://go.dev/dl) and try again: the programs are built once and kept, or
- set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager, kubectl and helm.
Everything else is tested by: make test-unit`
