// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cluster, TlsMaterial } from './cluster.ts'

/** What the library sets on a request. */
interface Applied {
  readonly headers?: Readonly<Record<string, string>>
  /** `user:password` */
  readonly auth?: string
  /** Files and base64 come as buffers, plugins give text. */
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/**
 * The cluster that kubeconfig files tell of: tokens, client certificates, exec plugins, OIDC. The
 * library that understands them costs 90 MB, so it is loaded here and nowhere else: a pod that goes by its service account never pays for it.
 * @param files merged as kubectl merges them: the first to name something wins
 * @throws Error that names the files and what is wrong
 */
export async function readKubeConfig(files: readonly string[], context?: string): Promise<Cluster> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  const from = files.join(', ')
  try {
    for (const [at, file] of files.entries()) {
      const part = at === 0 ? config : new KubeConfig()
      part.loadFromFile(file)
      if (at > 0) config.mergeConfig(part, true)
    }
  } catch (cause) {
    throw new Error(`the kubeconfig ${from} cannot be read: ${(cause as Error).message}`, { cause })
  }
  if (context !== undefined) config.setCurrentContext(context)
  const names = config.getContexts().map(({ name }) => name)
  const cluster = config.getCurrentCluster()
  if (!names.includes(config.getCurrentContext()))
    throw new Error(
      `the kubeconfig ${from} has no context "${config.getCurrentContext()}"; it has: ${names.join(', ') || 'none'}`,
    )
  if (cluster === null)
    throw new Error(
      `the context "${config.getCurrentContext()}" of ${from} names a cluster that is not there`,
    )
  if (cluster.proxyUrl?.startsWith('socks'))
    throw new Error(
      `the cluster "${cluster.name}" of ${from} is behind a SOCKS proxy: only HTTP proxies are supported`,
    )
  return {
    server: cluster.server,
    podNamespace: null,
    ...(cluster.proxyUrl && { proxyUrl: cluster.proxyUrl }),
    async credentials() {
      const options: Applied = {}
      await config.applyToHTTPSOptions(options)
      return { headers: headersOf(options), tls: tlsOf(options) }
    },
  }
}

function headersOf({ headers = {}, auth }: Applied): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) found[name.toLowerCase()] = value
  if (auth) found['authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`
  return found
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: Applied): TlsMaterial {
  return {
    ...(ca && { ca: String(ca) }),
    ...(cert && { cert: String(cert) }),
    ...(key && { key: String(key) }),
    ...(servername && { serverName: servername }),
    ...(rejectUnauthorized === false && { insecure: true }),
  }
}
