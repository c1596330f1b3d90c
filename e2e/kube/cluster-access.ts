// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  KubeClient,
  type KubeClientOptions,
  type WatchOptions,
} from '../../operator/kube/client.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import type { Cluster } from '../../operator/kube/cluster.ts'
import type { KubeObject } from '../../operator/kube/object.ts'
import type { Resource } from '../../operator/kube/resource.ts'
import type { WatchEvent } from '../../operator/kube/answers.ts'
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
  return new KubeClient(clientOptions(access, options))
}

/** A client that takes a watch for dead when nothing came for so long, whatever it is asked. */
export function impatientClientOf(
  access: Access,
  silenceMs: number,
  options: Partial<KubeClientOptions> = {},
): KubeClient {
  return new (class extends KubeClient {
    override watch<T extends KubeObject>(
      resource: Resource<T>,
      watchOptions: WatchOptions,
      signal: AbortSignal,
    ): AsyncGenerator<WatchEvent<T>> {
      return super.watch(resource, { ...watchOptions, silenceMs }, signal)
    }
  })(clientOptions(access, options))
}

function clientOptions(access: Access, options: Partial<KubeClientOptions>): KubeClientOptions {
  return {
    cluster: clusterOf(access),
    clock: systemClock,
    userAgent: 'rpc-router-tests',
    limit: { perSecond: 100_000, burst: 100_000 },
    ...options,
  }
}
