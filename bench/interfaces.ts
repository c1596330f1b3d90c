// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { freePorts } from '../e2e/processes/free-ports.ts'
import { waitUntil } from '../e2e/processes/eventually.ts'
import { type InterfaceName, interfaceNames } from './interface-calls.ts'
import { markdownTable, mediansOf } from './report.ts'
import { LoadRunner, type Sample } from './rounds.ts'
import { scratchDirectory } from './scratch-directory.ts'
import { startUpstreams } from './targets.ts'

/*
 * The cost of one read through each interface, in one router with default settings.
 *
 *   node bench/interfaces.ts
 */

const rounds = 3
const seconds = 3
const warmUpSeconds = 2
const connections = 16
const startTimeoutMs = 30_000
const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const directory = scratchDirectory('interfaces')
await using children = new ChildProcesses(directory)
const { signal } = new AbortController()
const upstreams = await startUpstreams(1, { children, directory, signal })
const [rest = 0, tendermint = 0, grpc = 0, ...listeners] = await freePorts(8)
const [jsonRpcPort = 0, restPort = 0, tendermintPort = 0, grpcPort = 0, adminPort = 0] = listeners
await children.start({
  name: 'hub',
  command: process.execPath,
  args: [fileOf('interface-nodes.ts'), ...[rest, tendermint, grpc].map(String)],
})
const router = await startRouter()
const ports: Readonly<Record<InterfaceName, number>> = {
  'JSON-RPC, HTTP': jsonRpcPort,
  'JSON-RPC, WebSocket': jsonRpcPort,
  'Tendermint RPC': tendermintPort,
  REST: restPort,
  'gRPC, unary': grpcPort,
}
const runner = new LoadRunner(children, { generator: fileOf('interface-load.ts') })
const load = (name: InterfaceName, forSeconds: number) =>
  runner.run(
    { name, port: ports[name], child: router },
    {
      ...{ connections, seconds: forSeconds },
      flags: ['--interface', name],
    },
  )
for (const name of interfaceNames) await load(name, warmUpSeconds)
const samples: Record<string, Sample>[] = []
for (let round = 0; round < rounds; round++) {
  const sample: Record<string, Sample> = {}
  for (const name of interfaceNames) sample[name] = await load(name, seconds)
  samples.push(sample)
}
process.stdout.write(`${tableOf(mediansOf(samples))}\n`)

/** Starts a router with a listener for each interface, and waits until all pools serve. */
async function startRouter() {
  const legs = [
    [jsonRpcPort, 'ETH1', 'jsonrpc', upstreams[0]!.url],
    [restPort, 'HUBCHAIN', 'rest', `http://127.0.0.1:${rest}`],
    [tendermintPort, 'HUBCHAIN', 'tendermintrpc', `http://127.0.0.1:${tendermint}`],
    [grpcPort, 'HUBCHAIN', 'grpc', `grpc://127.0.0.1:${grpc}`],
  ] as const
  const config = {
    endpoints: legs.map(([port, chain, through]) => ({
      'network-address': `127.0.0.1:${port}`,
      'chain-id': chain,
      'api-interface': through,
    })),
    'direct-rpc': legs.map(([, chain, through, url]) => ({
      name: 'node',
      'chain-id': chain,
      'api-interface': through,
      'node-urls': [{ url }],
    })),
    'metrics-listen-address': `127.0.0.1:${adminPort}`,
    'skip-websocket-verification': true,
  }
  const file = join(directory, 'router.yml')
  await writeFile(file, stringify(config))
  const args = [fileOf('../bin/router.mjs'), file]
  const child = await children.start({ name: 'router', command: process.execPath, args })
  await waitUntil('every interface is served', startTimeoutMs, signal, async () => {
    if (!child.alive) throw new Error(child.tail())
    const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`)
    const words = await response.text()
    if (!response.ok || words.includes('dark')) throw new Error(words)
    return true
  })
  return child
}

function tableOf(medians: Readonly<Record<string, Sample>>): string {
  const basis = medians[interfaceNames[0]]?.cpuMicrosPerRequest ?? 1
  const head = ['', 'CPU per call', 'of the first', 'calls/s', 'p50', 'p99']
  const rows = Object.entries(medians).map(([name, sample]) => [
    name,
    `${sample.cpuMicrosPerRequest.toFixed(0)} µs`,
    `${(sample.cpuMicrosPerRequest / basis).toFixed(1)} ×`,
    sample.requestsPerSecond.toFixed(0),
    `${sample.p50Ms.toFixed(1)} ms`,
    `${sample.p99Ms.toFixed(1)} ms`,
  ])
  return markdownTable([head, ...rows])
}
