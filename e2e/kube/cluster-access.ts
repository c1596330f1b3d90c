// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { KubeClient, type KubeClientOptions } from '../../operator/kube/client.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import type { Cluster } from '../../operator/kube/cluster.ts'
import type { Access } from './kubeconfig-file.ts'

/** The cluster as the operator's client wants it, without a file in between. */
export function clusterOf({ server, ca, cert, key }: Access): Cluster {
  return {
    server,
    podNamespace: null,
    credentials: () => Promise.resolve({ headers: {}, tls: { ca, cert, key } }),
  }
}

/** A client for tests: as fast as the server. */
export function clientOf(access: Access, options: Partial<KubeClientOptions> = {}): KubeClient {
  return new KubeClient({
    cluster: clusterOf(access),
    clock: systemClock,
    userAgent: 'rpc-router-tests',
    limit: { perSecond: 100_000, burst: 100_000 },
    ...options,
  })
}
