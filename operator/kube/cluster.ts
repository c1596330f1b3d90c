// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { access, readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'

/** TLS options of Node.js for a connection: CA, client certificate and key, in PEM. */
export interface TlsMaterial {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  /** False only if a kubeconfig says `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: boolean
}

export interface Credentials {
  /** Headers of each request: `authorization`, impersonation. Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
}

/** The address of an API server, and its credentials. */
export interface Cluster {
  /** `https://host:port`, optionally followed by the path of the API. */
  readonly server: string
  /** Namespace of this process's pod if it uses the pod's service account; otherwise null. */
  readonly podNamespace: string | null
  /** An HTTP proxy in front of the API server. */
  readonly proxyUrl?: string
  /** Rereads the credentials, because files and tokens change. Called once a minute. */
  credentials(): Promise<Credentials>
}

export interface ClusterOptions {
  /** The environment of the process: KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and _PORT. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** A kubeconfig file that overrides all other sources. */
  readonly kubeconfig?: string | undefined
  /** A context of the kubeconfig. Default: the current context. */
  readonly context?: string | undefined
}

/**
 * Finds the cluster as kubectl does: the given file, `KUBECONFIG`, `~/.kube/config`, then the pod's
 * service account.
 * @throws Error that lists the sources it tried, or says what is wrong with the one it found
 */
export async function findCluster({ env, kubeconfig, context }: ClusterOptions): Promise<Cluster> {
  if (kubeconfig !== undefined) return readKubeConfig([kubeconfig], context)
  const named = (env['KUBECONFIG'] ?? '').split(':').filter(Boolean)
  if (named.length > 0) {
    const present = await Promise.all(named.map(exists))
    // Like kubectl, this ignores missing files. If all are missing, the error names the first.
    const files = named.filter((_, at) => present[at])
    return readKubeConfig(files.length > 0 ? files : named, context)
  }
  const usual = env['HOME'] === undefined ? null : join(env['HOME'], '.kube', 'config')
  if (usual !== null && (await exists(usual))) return readKubeConfig([usual], context)
  if (await exists(join(serviceAccountFolder, 'token'))) return inCluster(env)
  throw new Error(
    `no cluster: KUBECONFIG is not set, there is no ${usual ?? '~/.kube/config'}, and this is not a pod with a service account`,
  )
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Where the kubelet puts a pod's token, CA certificate and namespace. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Returns the cluster that runs this pod, with the credentials of its service account. The kubelet
 * renews the token, so `credentials` rereads its file.
 * @throws Error if a file or the address is missing
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

/** Request options that the library sets. */
interface Applied extends Pick<TlsMaterial, 'servername' | 'rejectUnauthorized'> {
  readonly headers?: Readonly<Record<string, string>>
  /** `user:password` */
  readonly auth?: string
  /** A buffer if it comes from a file or base64, a string if from a plugin. */
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
}

/**
 * Returns the cluster from kubeconfig files: tokens, client certificates, exec plugins, OIDC. The
 * library that reads them costs 90 MB, so a pod with a service account never loads it.
 * @param files merged as kubectl merges them: the first file to set a value wins
 * @throws Error that names the files and what is wrong
 */
async function readKubeConfig(files: readonly string[], context?: string): Promise<Cluster> {
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
  const cluster = config.getCurrentCluster()
  if (cluster === null)
    throw new Error(
      `the context "${config.getCurrentContext()}" of the kubeconfig ${from} names no cluster; its contexts: ${
        config
          .getContexts()
          .map(({ name }) => name)
          .join(', ') || 'none'
      }`,
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
    ...(servername && { servername }),
    ...(rejectUnauthorized === false && { rejectUnauthorized }),
  }
}
