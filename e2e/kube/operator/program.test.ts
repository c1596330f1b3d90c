// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { leases } from '../../../operator/kube/leader-elector.ts'
import { noFaults } from '../chaos/faults.ts'
import { ChaosProxy } from '../chaos/proxy.ts'
import { eventually } from '../../processes/eventually.ts'
import { freePort } from '../../processes/free-ports.ts'
import { startCluster, writeKubeconfig } from '../test-cluster.ts'
import { useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { grantRules } from './running-operator.ts'

const place = useNamespace()
const fleet = new Fleet(place)
const program = join(import.meta.dirname, '../../../bin/rpc-operator.mjs')
const started = new Set<ChildProcess>()

afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  started.clear()
})

interface Program {
  readonly child: ChildProcess
  readonly url: string
  readonly stderr: Promise<string>
  /** The output on stderr so far. */
  log(): string
  readonly ended: Promise<number | null>
}

async function start(kubeconfig: string, ...flags: readonly string[]): Promise<Program> {
  const address = `127.0.0.1:${await freePort()}`
  return startAt(address, kubeconfig, ...flags)
}

function startAt(address: string, kubeconfig: string, ...flags: readonly string[]): Program {
  const argv = [program, '--kubeconfig', kubeconfig, '--listen-address', address]
  const child = spawn(process.execPath, [...argv, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.add(child)
  let log = ''
  child.stderr.on('data', (piece: Buffer) => (log += piece.toString()))
  return {
    child,
    url: `http://${address}`,
    stderr: text(child.stderr),
    log: () => log,
    ended: once(child, 'exit').then(([code]) => code as number | null),
  }
}

async function statusOf({ url }: Program, path: string): Promise<number> {
  return (await fetch(`${url}${path}`)).status
}

async function leads({ url }: Program): Promise<boolean> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return /^rpc_operator_leader 1$/m.test(page)
}

/**
 * A kubeconfig of a service account with rules for only the namespace, and the matching flags.
 */
async function account(): Promise<{ kubeconfig: string; flags: readonly string[] }> {
  const before = await roleNames()
  const access = await grantRules({ ...place, namespaces: [place.namespace] })
  const role = (await roleNames()).find((name) => !before.includes(name)) ?? ''
  const kubeconfig = await writeKubeconfig(place.folder, role, access, place.namespace)
  const lease = ['--lease-namespace', 'default', '--lease-name', role]
  return { kubeconfig, flags: ['--namespaces', place.namespace, ...lease] }
}

async function roleNames(): Promise<readonly string[]> {
  const { items } = await place.client.list(
    {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      kind: 'Role',
      plural: 'roles',
      namespaced: true,
    },
    { namespace: place.namespace },
    place.signal,
  )
  return items.map(({ metadata }) => metadata.name)
}

describe('the program', () => {
  test('reconciles, reports its state, and releases its lease at SIGTERM', async () => {
    const { kubeconfig, flags } = await account()
    const running = await start(kubeconfig, ...flags)
    await eventually(async () => expect(await statusOf(running, '/readyz')).toBe(200))
    expect(await statusOf(running, '/livez')).toBe(200)
    expect(await statusOf(running, '/nothing')).toBe(404)
    await fleet.provider('program', 'program-a')
    await fleet.router('program')
    await fleet.routerIs('program', 'Programmed', 'Programmed')
    expect(await leads(running)).toBe(true)
    const page = await (await fetch(`${running.url}/metrics`)).text()
    expect(page).toContain(
      `rpc_operator_router_ready{namespace="${place.namespace}",name="program"} 0`,
    )
    expect(page).toMatch(
      /rpc_operator_reconcile_total\{controller="rpcrouter",result="requeue"\} [1-9]/,
    )
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
    const name = flags.at(-1) ?? ''
    const lease = await place.client.get(leases, { namespace: 'default', name }, place.signal)
    expect(lease.spec?.holderIdentity ?? '').toBe('')
    const log = await running.stderr
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string })
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([
        'Operator started',
        'Became the leader',
        'Operator is stopping',
        'Operator stopped',
      ]),
    )
  })

  test('a standby waits with full caches, and takes over at once', async () => {
    const { kubeconfig, flags } = await account()
    const first = await start(kubeconfig, ...flags)
    await eventually(() => leads(first))
    const second = await start(kubeconfig, ...flags)
    await eventually(async () => expect(await statusOf(second, '/readyz')).toBe(200))
    expect(await leads(second)).toBe(false)
    await eventually(() => second.log().includes('Waiting for the lease: another operator leads'))
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await eventually(() => leads(second))
    await fleet.provider('over', 'over-a')
    await fleet.router('over')
    await fleet.routerIs('over', 'Programmed', 'Programmed')
  })

  test('survives an outage of the API server, even without an admin address', async () => {
    const proxy = await ChaosProxy.start(place.access, noFaults)
    const { folder, namespace } = place
    const kubeconfig = await writeKubeconfig(folder, `away-${namespace}`, proxy.access, namespace)
    const alone = ['--leader-elect', 'false', '--namespaces', namespace]
    const running = startAt('off', kubeconfig, ...alone)
    await eventually(() => running.log().includes('Operator started'))
    await fleet.provider('away', 'away-a')
    await fleet.router('away')
    await fleet.routerIs('away', 'Programmed', 'Programmed')
    await proxy[Symbol.asyncDispose]()
    const failures = () => running.log().split('Watch failed').length - 1
    // Repeated failed requests for each kind prove that the process is alive.
    await eventually(() => failures() > 30)
    expect(running.child.exitCode).toBeNull()
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  })
})

test('a port in use ends the program, and the error names the port and the flag', async () => {
  const { kubeconfig, flags } = await account()
  const first = await start(kubeconfig, ...flags)
  await eventually(async () => expect(await statusOf(first, '/readyz')).toBe(200))
  const address = new URL(first.url).host
  const second = startAt(address, kubeconfig, ...flags)
  expect(await second.ended).toBe(1)
  expect(await second.stderr).toContain(
    `cannot listen on ${address}: another process uses this port. Choose another with --listen-address, or off`,
  )
  expect(await statusOf(first, '/readyz')).toBe(200)
})

test('without its kinds in the cluster the error explains the installation', async () => {
  await using bare = await startCluster()
  const running = await start(bare.kubeconfig)
  expect(await running.ended).toBe(1)
  expect(await running.stderr).toContain(
    'the cluster does not know the kind RpcRouter: install the CustomResourceDefinitions first, kubectl apply -f crds/',
  )
})
