// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { dirname, join } from 'node:path'
import { runTool, type ToolRun } from '../processes/run-tool.ts'
import { findAssets } from './assets.ts'

export type Kubectl = (args: readonly string[], ...objects: readonly unknown[]) => Promise<ToolRun>

/** The real kubectl, for one namespace. Objects go to its stdin, for `-f -`; a text is passed as it is. */
export function kubectlFor(kubeconfig: string, namespace: string): Kubectl {
  return async (args, ...objects) => {
    const { kubectl } = await findAssets(process.env)
    if (kubectl === null) throw new Error('there is no kubectl; make kube-assets builds it')
    const whole = ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args]
    // Its cache of a cluster is deleted with the cluster.
    const env = { ...process.env, KUBECACHEDIR: join(dirname(kubeconfig), 'kubectl-cache') }
    return runTool(kubectl, whole, objects.map(textOf).join('\n---\n'), env)
  }
}

function textOf(object: unknown): string {
  return typeof object === 'string' ? object : JSON.stringify(object)
}

/** The output of a command. @throws Error with its stderr if it failed */
export async function printed(outcome: Promise<ToolRun>): Promise<string> {
  const { code, stdout, stderr } = await outcome
  if (code !== 0) throw new Error(`kubectl ended with ${code}: ${stderr}`)
  return stdout
}

const crds = join(import.meta.dirname, '../../crds')

/** Installs the kinds of `crds/` as a user would, and waits until they are served. */
export async function installCrds(kubectl: Kubectl): Promise<void> {
  await printed(kubectl(['apply', '--server-side', '--force-conflicts', '-f', crds]))
  const wait = ['wait', '--for=condition=Established', '--timeout=30s', '-f', crds]
  // By default wait reads the folders below as well, and apply does not.
  await printed(kubectl([...wait, '--recursive=false']))
}
