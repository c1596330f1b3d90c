// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { helm } from '../kube/kubectl.ts'
import { imageOf, kubeconfig, makeNamespace, onSystem, removeKinds, system } from './cluster.ts'

const needs = [
  [['get', '--raw', '/readyz'], 'a cluster that answers: KUBECONFIG names none'],
  [
    ['auth', 'can-i', '*', '*', '--all-namespaces'],
    'the rights of an administrator on the cluster',
  ],
] as const

/** Copies images from Docker into the cluster. */
export async function loadImages(...names: readonly string[]): Promise<void> {
  const [command = '', ...args] = (process.env['E2E_LOAD'] ?? '').split(' ')
  for (const name of names) await promisify(execFile)(command, [...args, name])
}

/** Checks the requirements of the suite, and copies the images. Returns the teardown. */
export async function setup(): Promise<() => Promise<void>> {
  for (const [question, need] of needs) {
    const { code, stderr } = await onSystem.kubectl(question)
    if (code !== 0) throw new Error(`make e2e needs ${need}. ${stderr}`)
  }
  await loadImages(
    ...['rpc-router', 'rpc-router-operator'].map((name) => imageOf(name)),
    ...['pods', 'anvil', 'redis'].map((name) => imageOf(`rpc-router-${name}`, 'e2e')),
  )
  await makeNamespace(system)
  return async () => {
    if (process.env['KEEP']) return
    await helm(['uninstall', 'rpc-router', '--namespace', system, '--wait'], kubeconfig)
    await onSystem.kubectl(['delete', 'namespace', system])
    await removeKinds()
  }
}
