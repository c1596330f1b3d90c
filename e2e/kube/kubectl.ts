// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eventually } from '../processes/eventually.ts'
import { runTool, type ToolRun } from '../processes/run-tool.ts'
import { findAssets, type Program } from './assets.ts'

export type Kubectl = (args: readonly string[], ...objects: readonly unknown[]) => Promise<ToolRun>

/** Runs the real kubectl in one namespace. Objects or a text go to its stdin, for `-f -`. */
export function kubectlFor(kubeconfig: string, namespace: string): Kubectl {
  return (args, ...objects) =>
    run(
      'kubectl',
      ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args],
      // The cache of a cluster is deleted with the cluster.
      { KUBECACHEDIR: join(dirname(kubeconfig), 'kubectl-cache') },
      objects.map(textOf).join('\n---\n'),
    )
}

/** Runs the real Helm. Without a kubeconfig it reaches no cluster, as for rendering. */
export function helm(
  args: readonly string[],
  kubeconfig = '/dev/null',
  program: 'helm' | 'helm3' = 'helm',
): Promise<ToolRun> {
  // Isolates Helm from local state, such as plugins of the user.
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
  // kubectl fails for a definition without conditions.
  await eventually(() =>
    printed(kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', crds])),
  )
}
