// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceAccounts } from '../../operator/resources/kinds.ts'
import { createAuthority, createSigningKey } from '../../proxy/upstream/testing/certificates.ts'
import type { Assets } from './assets.ts'
import { eventually } from '../processes/eventually.ts'
import { freePorts } from '../processes/free-ports.ts'
import { clientOf, type Access, kubeconfigOf } from './access.ts'
import { roles } from './resources.ts'

const readyMs = 60_000

export interface ControlPlaneOptions {
  readonly assets: Assets
  readonly folder: string
  /**
   * Limit of requests per second for each controller. Clusters have 20. The default here is 1,000,
   * so that tests do not wait.
   */
  readonly controllersPerSecond?: number
}

/** etcd, API server and controllers, as child processes. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions
  readonly #children = new Map<string, ChildProcess>()
  /** Resolves with the name of the first process that ends unexpectedly. */
  readonly ended: Promise<string>
  readonly #stop = new AbortController()
  readonly #ended = Promise.withResolvers<string>()

  constructor(options: ControlPlaneOptions) {
    this.#options = options
    this.ended = this.#ended.promise
  }

  /** Starts all processes, and waits until the API server and the controllers work. */
  async start(): Promise<Access> {
    const { folder, controllersPerSecond = 1_000 } = this.#options
    const [etcdPort, apiPort] = await freePorts(2)
    const server = `https://127.0.0.1:${apiPort}`
    const cluster = await this.#writeCredentials(server)
    this.#run('etcd', [
      '--data-dir=etcd',
      // The data is temporary, so it need not reach the disk.
      '--unsafe-no-fsync',
      '--log-level=warn',
      '--listen-peer-urls=http://127.0.0.1:0',
      `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
      `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
    ])
    this.#run('kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${apiPort}`,
      '--advertise-address=127.0.0.1',
      // A cluster without nodes has no client for the Service `kubernetes`.
      '--endpoint-reconciler-type=none',
      '--tls-cert-file=apiserver.crt',
      '--tls-private-key-file=apiserver.key',
      '--client-ca-file=ca.crt',
      '--authorization-mode=RBAC',
      '--allow-privileged',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-key-file=tokens.pub',
      '--service-account-signing-key-file=tokens.key',
      '--profiling=false',
    ])
    const { signal } = this.#stop
    const client = clientOf(cluster)
    // This role exists only after the bootstrap of the API server.
    await this.#until('kube-apiserver', () => client.get(roles, { name: 'admin' }, signal))
    this.#run('kube-controller-manager', [
      '--kubeconfig=controllers.conf',
      '--leader-elect=false',
      '--secure-port=0',
      '--root-ca-file=ca.crt',
      '--use-service-account-credentials',
      '--service-account-private-key-file=tokens.key',
      `--kube-api-qps=${controllersPerSecond}`,
      `--kube-api-burst=${Math.ceil(controllersPerSecond * 1.5)}`,
      '--horizontal-pod-autoscaler-sync-period=1s',
    ])
    // The controllers create this object, which pods need.
    await this.#until('kube-controller-manager', () =>
      client.get(serviceAccounts, { namespace: 'default', name: 'default' }, signal),
    )
    await client.close()
    await writeFile(join(folder, 'cluster.json'), JSON.stringify(cluster), { mode: 0o600 })
    return cluster
  }

  /** Kills all processes at once, since their data is temporary. */
  async stop(): Promise<void> {
    this.#stop.abort()
    const running = [...this.#children.values()]
    this.#children.clear()
    const ends = running.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ends)
  }

  async #writeCredentials(server: string): Promise<Access> {
    const write = (name: string, text: string) =>
      writeFile(join(this.#options.folder, name), text, { mode: 0o600 })
    const authority = await createAuthority('test cluster')
    const ca = authority.cert
    const [apiserver, admin, controllers, tokens] = await Promise.all([
      authority.issue('127.0.0.1'),
      authority.issue('admin', ['system:masters']),
      authority.issue('system:kube-controller-manager'),
      createSigningKey(),
    ])
    await Promise.all([
      write('ca.crt', ca),
      write('ca.key', await authority.exportKey()),
      write('apiserver.crt', apiserver.cert),
      write('apiserver.key', apiserver.key),
      write('tokens.key', tokens.key),
      write('tokens.pub', tokens.publicKey),
      write('admin.conf', kubeconfigOf({ server, ca, ...admin })),
      write('controllers.conf', kubeconfigOf({ server, ca, ...controllers })),
    ])
    return { server, ca, ...admin }
  }

  #run(program: 'etcd' | 'kube-apiserver' | 'kube-controller-manager', args: string[]): void {
    const { assets, folder } = this.#options
    this.#stop.signal.throwIfAborted()
    const log = openSync(join(folder, `${program}.log`), 'w')
    const child = spawn(assets[program], args, { cwd: folder, stdio: ['ignore', log, log] })
    closeSync(log)
    this.#children.set(program, child)
    const onEnd = () => {
      if (!this.#children.delete(program)) return
      this.#stop.abort(new Error(`${program} ended by itself`))
      this.#ended.resolve(program)
    }
    child.once('exit', onEnd)
    child.once('error', onEnd)
  }

  /** Retries until success, while all programs run. */
  async #until(program: string, attempt: () => Promise<unknown>): Promise<void> {
    await eventually(attempt, readyMs, this.#stop.signal).catch((cause: unknown) => {
      const path = join(this.#options.folder, `${program}.log`)
      const log = readFileSync(path, 'utf8').split('\n').slice(-20).join('\n')
      throw new Error(`${program} did not get ready; its log ends with:\n${log}`, { cause })
    })
  }
}
