// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eventually } from '../processes/eventually.ts'
import { runTool, type ToolRun } from '../processes/run-tool.ts'
import { findAssets, type Program } from './assets.ts'

export type Kubectl = (args: readonly string[], ...objects: readonly unknown[]) => Promise<ToolRun>

/** The real kubectl, for one namespace. Objects go to its stdin, for `-f -`; a text is passed as it is. */
export function kubectlFor(kubeconfig: string, namespace: string): Kubectl {
  return (args, ...objects) =>
    run(
      'kubectl',
      ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args],
      // Its cache of a cluster is deleted with the cluster.
      { KUBECACHEDIR: join(dirname(kubeconfig), 'kubectl-cache') },
      objects.map(textOf).join('\n---\n'),
    )
}

/** The real Helm. Without a kubeconfig it reaches no cluster, which rendering does not need. */
export function helm(
  args: readonly string[],
  kubeconfig = '/dev/null',
  program: 'helm' | 'helm3' = 'helm',
): Promise<ToolRun> {
  // What it keeps beside the cluster, such as plugins of the user, must not count.
  const home = join(tmpdir(), 'rpc-router-helm')
  return run(program, args, {
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: home,
    HELM_CONFIG_HOME: home,
    HELM_DATA_HOME: home,
  })
}

export async function run(
  program: Program,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<ToolRun> {
  const { [program]: path } = await findAssets(process.env)
  if (path === null) throw new Error(`there is no ${program}; make kube-assets builds it`)
  return runTool(path, args, input, { ...process.env, ...env })
}

function textOf(object: unknown): string {
  return typeof object === 'string' ? object : JSON.stringify(object)
}

/** The output of a command. @throws Error with its stderr if it failed */
export async function printed(outcome: Promise<ToolRun>): Promise<string> {
  const { code, stdout, stderr } = await outcome
  if (code !== 0) throw new Error(`the command ended with ${code}: ${stderr}`)
  return stdout
}

const crds = join(import.meta.dirname, '../../crds')

/** Installs the kinds of `crds/` as a user would, and waits until they are served. */
export async function installCrds(kubectl: Kubectl): Promise<void> {
  await printed(kubectl(['apply', '--server-side', '--force-conflicts', '-f', crds]))
  // A definition without any condition yet is an error of kubectl.
  await eventually(() =>
    printed(kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', crds])),
  )
}
