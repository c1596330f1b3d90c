// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, inject } from 'vitest'
import type { KubeClient } from '../../operator/kube/client.ts'
import { clientOf, type Access } from './access.ts'
import { namespaces } from './resources.ts'

/** A test file's namespace in the shared cluster. */
export interface TestNamespace {
  /** Name of the namespace, which is deleted after the file. */
  readonly namespace: string
  /** Client of the administrator, without a rate limit. */
  readonly client: KubeClient
  readonly access: Access
  /** Folder of the cluster, with a kubeconfig of the administrator. */
  readonly folder: string
  readonly kubeconfig: string
  /** Aborted at the end of the file. */
  readonly signal: AbortSignal
}

/** Call it once at the top of a test file. */
export function useNamespace(labels: Readonly<Record<string, string>> = {}): TestNamespace {
  const { access, folder, kubeconfig } = inject('cluster')
  const namespace = `test-${randomBytes(5).toString('hex')}`
  const client = clientOf(access)
  const end = new AbortController()
  beforeAll(async () => {
    const metadata = { name: namespace, labels }
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
    await client.create(namespaces, object, end.signal)
  })
  afterAll(async () => {
    await client.delete(namespaces, { name: namespace }, end.signal)
    end.abort()
    await client.close()
  })
  return { namespace, client, access, folder, kubeconfig, signal: end.signal }
}
