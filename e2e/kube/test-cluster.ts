// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadAuthority } from '../../proxy/upstream/testing/certificates.ts'
import type { ControlPlaneOptions } from './control-plane.ts'
import { type Access, kubeconfigOf } from './access.ts'

/** A Kubernetes API for tests. */
export interface TestCluster extends AsyncDisposable {
  /** Folder for data, credentials and logs, deleted at the stop. */
  readonly folder: string
  /** Access of the administrator. */
  readonly access: Access
  /** A kubeconfig file of the administrator. */
  readonly kubeconfig: string
  /** The process that runs the cluster. It ends with this process. */
  readonly keeperPid: number
}

/**
 * Starts etcd, API server and controllers on loopback in 3 to 4 s. Several clusters can run at a
 * time. They end on disposal, or at the latest with this process, even if it is killed.
 */
export async function startCluster(
  options: Pick<ControlPlaneOptions, 'controllersPerSecond'> = {},
): Promise<TestCluster> {
  const program = join(import.meta.dirname, 'keeper.ts')
  const { controllersPerSecond } = options
  const args = controllersPerSecond === undefined ? [] : [String(controllersPerSecond)]
  const keeper = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C must not reach the keeper, which cleans up when its stdin closes.
    detached: true,
  })
  const ended = new Promise<number | null>((resolve) => keeper.once('exit', resolve))
  const folder = await new Promise<string>((resolve, reject) => {
    createInterface(keeper.stdout).once('line', resolve)
    keeper.once('error', reject)
    void ended.then(() => reject(new Error('the test cluster did not start; its output is above')))
  })
  return {
    folder,
    access: JSON.parse(await readFile(join(folder, 'cluster.json'), 'utf8')) as Access,
    kubeconfig: join(folder, 'admin.conf'),
    keeperPid: keeper.pid!,
    async [Symbol.asyncDispose]() {
      keeper.stdin.end()
      await ended
    },
  }
}

/** Creates credentials for another user of the cluster. */
export async function accessFor(folder: string, admin: Access, user: string): Promise<Access> {
  const authority = await loadAuthority(admin.ca, await readFile(join(folder, 'ca.key'), 'utf8'))
  return { ...admin, ...(await authority.issue(user)) }
}

/** Writes a kubeconfig file into the cluster's folder and returns its path. */
export async function writeKubeconfig(
  folder: string,
  name: string,
  access: Access,
  namespace?: string,
): Promise<string> {
  const path = join(folder, `${name}.conf`)
  await writeFile(path, kubeconfigOf(access, namespace), { mode: 0o600 })
  return path
}
