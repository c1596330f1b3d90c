// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { namespaces } from '../e2e/kube/resources.ts'
import { clientOf } from '../e2e/kube/access.ts'
import { installCrds, kubectlFor } from '../e2e/kube/kubectl.ts'
import { grantRules } from '../e2e/kube/operator/running-operator.ts'
import { countObjects, populate, Progress, providersOf } from '../e2e/kube/operator/scale.ts'
import { startCluster, writeKubeconfig } from '../e2e/kube/test-cluster.ts'
import { freePort } from '../e2e/processes/free-ports.ts'
import { cpuSecondsByName } from './process-usage.ts'

// node bench/operator-scale.ts [--controllers-qps 20] [--shared] [routers] [providers each]
//
// Starts the operator program on a separate Kubernetes API with a populated cluster. By default the
// controllers of the cluster have the usual rate limit; --controllers-qps 1000 makes them faster.
// With --shared all routers share their providers.

const { values, positionals } = parseArgs({
  options: {
    'controllers-qps': { type: 'string', default: '20' },
    shared: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const [routers = 1000, providersEach = 10] = positionals.map(Number)
const namespace = 'scale'
const stop = new AbortController()
const { signal } = stop
/** Time without a write of the operator after which the controllers have settled. */
const settledMs = 15_000

await using cluster = await startCluster({
  controllersPerSecond: Number(values['controllers-qps']),
})
const client = clientOf(cluster.access)
await client.create(
  namespaces,
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  signal,
)
await installCrds(kubectlFor(cluster.kubeconfig, namespace))
const population = { namespace, routers, providersEach, isShared: values.shared }
const createdMs = await time(() => populate(client, population, signal))
console.log(
  `${routers} routers with ${providersEach} providers ${values.shared ? 'for all' : 'each'}: created in ${seconds(createdMs)}`,
)
const progress = new Progress(client, namespace)
const watched = progress.run(signal)

const place = { client, access: cluster.access, folder: cluster.folder, namespaces: null, signal }
const kubeconfig = await writeKubeconfig(cluster.folder, 'operator', await grantRules(place))
const port = await freePort()
const program = join(import.meta.dirname, '../operator/main.ts')
const usedBefore = cpuSecondsByName(cluster.keeperPid)
const child = spawn(
  process.execPath,
  [
    program,
    ...['--kubeconfig', kubeconfig, '--leader-elect', 'false'],
    ...['--listen-address', `127.0.0.1:${port}`, '--log-level', 'warn'],
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
try {
  const workedMs = await time(async () => {
    while (progress.programmed < routers || progress.readyProviders < providersOf(population)) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the operator ended: ${child.exitCode ?? child.signalCode}`)
      await pause(500)
    }
  })
  console.log(`all programmed and Ready in ${seconds(workedMs)}`)
  reportCpu(workedMs)
  const followedMs = await time(untilSettled)
  console.log(`the last writes after ${seconds(workedMs + followedMs - settledMs)}`)
  const settled = await written()
  const objects = await countObjects(client, namespace, signal)
  console.log(`${settled} writes for ${objects} objects: ${(settled / objects).toFixed(3)} each`)
  console.log(`${await written('events')} of the writes were events`)
  await pause(20_000)
  console.log(`${(await written()) - settled} writes in 20 s afterwards`)
  console.log(`${Math.round(mostBytes() / 1024 ** 2)} MiB resident at most`)
} finally {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  stop.abort()
  await watched
  await client.close()
}

async function untilSettled(): Promise<void> {
  let [count, sinceMs] = [await written(), performance.now()]
  while (performance.now() - sinceMs < settledMs) {
    await pause(500)
    const now = await written()
    if (now !== count) [count, sinceMs] = [now, performance.now()]
  }
}

/** @param resource default: all kinds */
async function written(resource?: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const sample = /^rpc_operator_api_requests_total\{resource="(\w+)",verb="(\w+)".*\} (\d+)$/gm
  return [...text.matchAll(sample)]
    .filter(([, of]) => resource === undefined || of === resource)
    .filter(([, , verb = '']) => ['create', 'update', 'patch', 'delete'].includes(verb))
    .reduce((sum, [, , , count]) => sum + Number(count), 0)
}

/** Prints the limits of the time: the number of CPUs, and the processes that used them. */
function reportCpu(workedMs: number): void {
  const inCluster = [...cpuSecondsByName(cluster.keeperPid)].map(
    ([name, used]) => [name, used - (usedBefore.get(name) ?? 0)] as const,
  )
  const [operator = 0] = cpuSecondsByName(child.pid!).values()
  const all = [['rpc-operator', operator] as const, ...inCluster].filter(([, used]) => used >= 0.1)
  const total = all.reduce((sum, [, used]) => sum + used, 0)
  console.log(`CPU time: ${all.map(([name, used]) => `${name} ${used.toFixed(1)} s`).join(', ')}`)
  console.log(`${((total * 1000) / workedMs).toFixed(2)} CPUs in use, ${total.toFixed(1)} s in all`)
}

function mostBytes(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}

async function time(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
