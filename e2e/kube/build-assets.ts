// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Assets,
  builtPathOf,
  findAssets,
  pinnedModule,
  type Program,
  programs,
} from './assets.ts'

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
    const ofKubernetes = missing.filter((program) => program !== 'etcd')
    if (ofKubernetes.length > 0) await build('kubernetes', ofKubernetes, env)
    if (missing.includes('etcd')) await build('etcd', ['etcd'], env)
    for (const program of missing) found[program] = builtPathOf(program, env)
  }
  return found as Assets
}

async function build(
  name: 'kubernetes' | 'etcd',
  wanted: readonly Program[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { folder, version } = pinnedModule(name)
  const target = dirname(builtPathOf(wanted[0] as Program, env))
  await mkdir(target, { recursive: true })
  // Built aside and then moved: whoever looks meanwhile sees all of a program or nothing.
  const aside = await mkdtemp(join(target, '.building-'))
  try {
    const packages =
      name === 'etcd'
        ? ['go.etcd.io/etcd/server/v3']
        : wanted.map((program) => `k8s.io/kubernetes/cmd/${program}`)
    const output = name === 'etcd' ? join(aside, 'etcd') : `${aside}/`
    const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', linkFlags(version)]
    await runGo(['build', '-C', folder, ...flags, '-o', output, ...packages], env)
    for (const program of wanted) await rename(join(aside, program), join(target, program))
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** Without them the programs of Kubernetes call themselves v0.0.0-master. etcd does not know the names, and Go ignores them. */
function linkFlags(version: string): string {
  const [major, minor] = version.split('.')
  const set = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`
  return [
    '-s -w',
    set('gitVersion', `v${version}`),
    set('gitMajor', major),
    set('gitMinor', minor),
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
- set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager and kubectl.
Everything else is tested by: make test-unit`
