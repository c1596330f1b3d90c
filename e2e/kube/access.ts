// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  KubeClient,
  type KubeClientOptions,
  type WatchOptions,
} from '../../operator/kube/client.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import type { Cluster } from '../../operator/kube/cluster.ts'

/** Credentials of one user of one cluster, in PEM. */
export interface Access {
  readonly server: string
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** A self-contained kubeconfig in JSON, which is valid YAML. */
export function kubeconfigOf({ server, ca, cert, key }: Access, namespace = 'default'): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  // The chaos proxy serves plain HTTP on loopback, which clients allow only in this form.
  const trust = server.startsWith('https:')
    ? { 'certificate-authority-data': base64(ca) }
    : { 'insecure-skip-tls-verify': true }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, ...trust } }],
    users: [
      {
        name: 'user',
        user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user', namespace } }],
    'current-context': 'test',
  })
}

/** The cluster as the operator's client expects it, without a file. */
export function clusterOf({ server, ca, cert, key }: Access): Cluster {
  return {
    server,
    podNamespace: null,
    credentials: () => Promise.resolve({ headers: {}, tls: { ca, cert, key } }),
  }
}

/** A client for tests, without a rate limit. */
export function clientOf(access: Access, options: Partial<KubeClientOptions> = {}): KubeClient {
  return new KubeClient({
    cluster: clusterOf(access),
    clock: systemClock,
    userAgent: 'rpc-router-tests',
    limit: { perSecond: 100_000, burst: 100_000 },
    ...options,
  })
}

/** Makes a client treat a watch as dead after this silence. */
export function impatient(client: KubeClient, silenceMs: number): KubeClient {
  const watch = client.watch.bind(client)
  client.watch = (resource, options: WatchOptions, signal) =>
    watch(resource, { ...options, silenceMs }, signal)
  return client
}
