// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * What a WebSocket client on a shared subscription costs the router: its memory for each client,
 * how many subscriptions the upstream has for all of them, and how long a new head takes to the last.
 *
 *   node bench/websocket-memory.ts [clients, 5000 when not said]
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { createWorkspace } from '../e2e/program/workspace.ts'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { startSimNode } from '../e2e/upstream-sim/sim-node.ts'
import { usageOf } from './process-usage.ts'

const count = Number(process.argv[2] ?? 5_000)
const heads = 20
const atOnce = 50

await using workspace = await createWorkspace()
await using children = new ChildProcesses(workspace.directory)
const chain = createChainModel()
await using node = await startSimNode({ chain, name: 'node' })
const { signal } = new AbortController()
const upstreams = [{ name: 'node', url: node.socketUrl }]
const router = await startRouter({ children, directory: workspace.directory, upstreams, signal })
const { pid } = router.child
const socketUrl = router.url.replace('http', 'ws')

let heard = 0
const clients: WebSocket[] = []

/** Two clients warm the code up, so that what is measured is clients. */
for (let at = 0; at < 2; at++) clients.push(await subscribe())
await mine(3)
const before = usageOf(pid).residentBytes
while (clients.length < count + 2)
  clients.push(...(await Promise.all(Array.from({ length: atOnce }, subscribe))))
await sleep(2_000)
const idle = usageOf(pid).residentBytes
const latenciesMs = await mine(heads)
await sleep(2_000)
const used = usageOf(pid).residentBytes

const kilobytes = (bytes: number) => (bytes / count / 1_000).toFixed(1)
process.stdout.write(
  [
    `clients                          ${count}`,
    `subscriptions at the upstream    ${node.sockets.subscriptions}`,
    `kB of resident memory a client   ${kilobytes(idle - before)} when subscribed, ${kilobytes(used - before)} after ${heads} heads`,
    `ms to the last client            ${latenciesMs.map((ms) => ms.toFixed(0)).join(' ')}`,
    '',
  ].join('\n'),
)
for (const client of clients) client.terminate()

async function subscribe(): Promise<WebSocket> {
  const client = new WebSocket(socketUrl, { perMessageDeflate: false })
  await once(client, 'open')
  client.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  await once(client, 'message')
  client.on('message', () => (heard += 1))
  return client
}

/** Mines blocks, one at a time; how long each took to reach every client. */
async function mine(blocks: number): Promise<readonly number[]> {
  const tookMs: number[] = []
  for (let at = 0; at < blocks; at++) {
    heard = 0
    const startedMs = performance.now()
    chain.mine()
    while (heard < clients.length) await sleep(1)
    tookMs.push(performance.now() - startedMs)
  }
  return tookMs
}
