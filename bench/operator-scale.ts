// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { namespaces } from '../e2e/kube/resources.ts'
import { clientOf } from '../e2e/kube/cluster-access.ts'
import { installCrds } from '../e2e/kube/install-crds.ts'
import { kubectlFor } from '../e2e/kube/kubectl.ts'
import { grantRules } from '../e2e/kube/operator/running-operator.ts'
import { countObjects, populate, progressOf } from '../e2e/kube/operator/scale.ts'
import { startCluster, writeKubeconfig } from '../e2e/kube/test-cluster.ts'
import { unusedPort } from '../e2e/kube/unused-port.ts'

// node bench/operator-scale.ts [routers] [providers each]
//
// The program itself, on a Kubernetes API of its own, from a full cluster that it has never seen.

const [routers = 1000, providersEach = 10] = process.argv.slice(2).map(Number)
const namespace = 'scale'
const signal = new AbortController().signal

await using cluster = await startCluster()
const client = clientOf(cluster.access)
await client.create(
  namespaces,
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  signal,
)
await installCrds(kubectlFor(cluster.kubeconfig, namespace))
const population = { namespace, routers, providersEach }
const createdMs = await time(() => populate(client, population, signal))
console.log(
  `${routers} routers with ${providersEach} providers each: created in ${seconds(createdMs)}`,
)

const place = { client, access: cluster.access, folder: cluster.folder, namespaces: null, signal }
const kubeconfig = await writeKubeconfig(cluster.folder, 'operator', await grantRules(place))
const port = await unusedPort(20_000)
const program = join(import.meta.dirname, '../operator/main.ts')
const child = spawn(
  process.execPath,
  [
    program,
    ...['--kubeconfig', kubeconfig, '--leader-elect', 'false'],
    ...['--listen-address', `127.0.0.1:${port}`, '--log-level', 'warn'],
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
let mostBytes = 0
const watchMemory = setInterval(() => {
  mostBytes = Math.max(mostBytes, residentBytes())
}, 250)
try {
  const workedMs = await time(async () => {
    for (;;) {
      await pause(1000)
      const { programmed, readyProviders } = await progressOf(client, namespace, signal)
      if (programmed === routers && readyProviders === routers * providersEach) return
    }
  })
  console.log(`all programmed and Ready in ${seconds(workedMs)}`)
  await pause(20_000)
  const settled = await written()
  const objects = await countObjects(client, namespace, signal)
  console.log(`${settled} writes for ${objects} objects: ${(settled / objects).toFixed(3)} each`)
  await pause(20_000)
  console.log(`${(await written()) - settled} writes in 20 s afterwards`)
  console.log(`${Math.round(mostBytes / 1024 ** 2)} MiB resident at most`)
} finally {
  clearInterval(watchMemory)
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  await client.close()
}

async function written(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return [...text.matchAll(/^rpc_operator_api_requests_total\{.*verb="(\w+)".*\} (\d+)$/gm)]
    .filter(([, verb = '']) => ['create', 'update', 'patch', 'delete'].includes(verb))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}

async function time(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
