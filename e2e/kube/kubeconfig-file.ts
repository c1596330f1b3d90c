// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What a kubeconfig file for one user of one cluster says. PEM. */
export interface Access {
  readonly server: string
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** A kubeconfig that is complete in itself. JSON is YAML too. */
export function kubeconfigOf({ server, ca, cert, key }: Access, namespace = 'default'): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  // The chaos proxy speaks plain HTTP on loopback, which clients allow only like this.
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
