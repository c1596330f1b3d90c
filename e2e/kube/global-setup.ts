// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { TestProject } from 'vitest/node'
import { ensureAssets } from './assets.ts'
import type { Access } from './access.ts'
import { installCrds, kubectlFor } from './kubectl.ts'
import { startCluster } from './test-cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The cluster that all suites of a run share. */
    cluster: { readonly folder: string; readonly access: Access; readonly kubeconfig: string }
  }
}

/** Starts one cluster with our kinds for all files of `e2e/kube`. Builds missing programs. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureAssets(process.env)
  const cluster = await startCluster()
  const { folder, access, kubeconfig } = cluster
  await installCrds(kubectlFor(kubeconfig, 'default'))
  project.provide('cluster', { folder, access, kubeconfig })
  return async () => {
    await cluster[Symbol.asyncDispose]()
  }
}
