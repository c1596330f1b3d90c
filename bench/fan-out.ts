// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { startSimNode } from '../e2e/upstream-sim/sim-node.ts'
import { usageOf } from './process-usage.ts'
import { median } from './report.ts'
import { scratchDirectory } from './scratch-directory.ts'

/*
 * The cost of clients on one subscription: memory per client, time and CPU per event, and the
 * number of subscriptions at the node. Fails when a limit is exceeded.
 *
 *   node bench/fan-out.ts [clients, default 5000]
 */

const count = Number(process.argv[2] ?? 5_000)
const warmUpClients = 500
const warmUpHeads = 20
const heads = 20
const atOnce = 50
const settleMs = 3_000
const maxBytes = 20 * 1024

const directory = scratchDirectory('fan-out')
await using children = new ChildProcesses(directory)
const chain = createChainModel({ seed: 'fan-out' })
await using node = await startSimNode({ chain })
const { signal } = new AbortController()
const upstreams = [{ name: 'node', url: node.url, webSocketUrl: node.socketUrl }]
const router = await startRouter({ children, directory, upstreams, signal })
const { pid } = router.child

let received = 0
let receivedMs = 0
const clients: WebSocket[] = []
await subscribe(warmUpClients)
await mine(warmUpHeads)
await sleep(settleMs)
const before = usageOf(pid)
await subscribe(count)
await sleep(settleMs)
const subscribed = usageOf(pid)
const tookMs = await mine(heads)
const after = usageOf(pid)
await sleep(settleMs)
const settled = usageOf(pid)
const { subscriptions } = node.sockets
for (const client of clients) client.terminate()

const events = clients.length * heads
const perClient = (bytes: number) => (bytes - before.residentBytes) / count
const perEventMicros = ((after.cpuSeconds - subscribed.cpuSeconds) * 1e6) / events
const isMet = subscriptions === 1 && perClient(settled.residentBytes) < maxBytes
const kilobytes = (bytes: number) => `${(perClient(bytes) / 1024).toFixed(1)} KiB`
process.stdout.write(
  [
    `clients on one subscription        ${count.toLocaleString('en-US')}`,
    `subscriptions at the node          ${subscriptions}`,
    `memory for each client             ${kilobytes(subscribed.residentBytes)}; after ${heads} events ${kilobytes(settled.residentBytes)}`,
    `from the block to the last client  ${median(tookMs).toFixed(0)} ms, at most ${Math.max(...tookMs).toFixed(0)} ms`,
    `CPU for each client and event      ${perEventMicros.toFixed(1)} µs`,
    `one subscription, under 20 KiB     ${isMet ? 'met' : 'MISSED'}`,
    '',
  ].join('\n'),
)
process.exitCode = isMet ? 0 : 1

/** Adds clients with a subscription to new blocks. */
async function subscribe(more: number): Promise<void> {
  for (let left = more; left > 0; left -= atOnce) {
    const those = Array.from({ length: Math.min(left, atOnce) }, subscribeOne)
    clients.push(...(await Promise.all(those)))
  }
}

async function subscribeOne(): Promise<WebSocket> {
  const client = new WebSocket(router.url.replace('http', 'ws'), { perMessageDeflate: false })
  await once(client, 'open')
  client.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  const [answer] = (await once(client, 'message')) as [Buffer]
  if (!answer.includes('"result"')) throw new Error(answer.toString())
  client.on('message', () => {
    received++
    receivedMs = performance.now()
  })
  return client
}

/** Mines blocks in sequence. @returns the time of each to reach the last client */
async function mine(blocks: number): Promise<number[]> {
  const each: number[] = []
  for (let at = 0; at < blocks; at++) {
    received = 0
    const startedMs = performance.now()
    chain.mine()
    while (received < clients.length) await sleep(2)
    each.push(receivedMs - startedMs)
  }
  return each
}
