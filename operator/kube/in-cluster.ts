// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'

/** Where the kubelet puts a pod's token, authority and namespace. */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The cluster around this pod, by its service account. The kubelet renews the token, so its file is
 * read again.
 * @throws Error when a file or the address is missing
 */
export async function inCluster(
  env: Readonly<Record<string, string | undefined>>,
  folder: string = serviceAccountFolder,
): Promise<Cluster> {
  const host = env['KUBERNETES_SERVICE_HOST']
  const port = env['KUBERNETES_SERVICE_PORT']
  if (!host || !port)
    throw new Error(
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set, as they are in every pod',
    )
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim()
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    podNamespace: await read('namespace'),
    async credentials() {
      const [token, ca] = await Promise.all([read('token'), read('ca.crt')])
      return { headers: { authorization: `Bearer ${token}` }, tls: { ca } }
    },
  }
}
