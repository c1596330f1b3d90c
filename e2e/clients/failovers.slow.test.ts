// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { serveRouter } from '../served/served-router.ts'
import { ReceivedHeads, ReceivedLogs, type Received } from '../simulation/subscriptions/received.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

const failovers = 200
const slow = { interval: 5 }

interface Message {
  readonly id?: number
  readonly result?: string
  readonly params?: { readonly subscription: string; readonly result: unknown }
}

/** A client with one subscription on a separate connection. */
async function subscribe(url: string, params: readonly unknown[], received: Received) {
  const socket = new WebSocket(url)
  const { promise: opened, resolve, reject } = Promise.withResolvers<string>()
  const closed: string[] = []
  socket.on('error', reject)
  socket.on('close', (code, reason) => void closed.push(`${code} ${reason.toString()}`))
  socket.on('open', () => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  })
  socket.on('message', (data: Buffer) => {
    const { id, result, params: event } = JSON.parse(data.toString()) as Message
    if (id === 1) resolve(result ?? '')
    else received.event(JSON.stringify(event?.result))
  })
  return { socket, id: await opened, closed }
}

test(`${failovers} failovers on real sockets, with reorganisations, leave no gap and no duplicate`, async () => {
  await using stack = new AsyncDisposableStack()
  const chain = createChainModel({ seed: 'failovers' })
  const nodes = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => startSimNode({ chain, name })),
  )
  for (const node of nodes) stack.use(node)
  const router = stack.use(await serveRouter({ primaries: nodes, sockets: true }))
  const found: string[] = []
  const report = (rule: string, what: string) => void found.push(`${rule}: ${what}`)
  const heads = new ReceivedHeads(chain, report)
  const logs = new ReceivedLogs(chain, {}, report)
  const clients = [
    await subscribe(router.socketUrl, ['newHeads'], heads),
    await subscribe(router.socketUrl, ['logs', {}], logs),
  ]
  for (const { socket } of clients)
    stack.defer(() => {
      socket.terminate()
    })
  const start = chain.head
  const telling = () => nodes.filter(({ sockets }) => sockets.subscriptions > 0)
  for (let round = 0; round < failovers; round++) {
    await expect.poll(() => telling().length, slow).toBe(1)
    chain.mine()
    // In every second round the node reports the block before its connection ends.
    if (round % 2 === 0) await expect.poll(() => heads.newest, slow).toBe(chain.head)
    const sockets = telling()[0]?.sockets
    if (round % 10 < 2) sockets?.endSubscriptions()
    else sockets?.cut(round % 4 === 0 ? 1001 : undefined)
    chain.mine(round % 3)
    if (round % 5 === 0) chain.reorg(1 + (round % 4))
    await expect.poll(() => heads.newest, slow).toBe(chain.head)
  }
  chain.mine()
  const last = chain.block(chain.head).receipts.flatMap((receipt) => receipt.logs)
  await expect.poll(() => heads.newest, slow).toBe(chain.head)
  if (last.length > 0) await expect.poll(() => logs.newest, slow).toBe(chain.head)
  await new Promise((resolve) => setTimeout(resolve, 500))
  heads.checkWhole(start + 1, chain.head)
  logs.checkWhole(start + 1, chain.head)
  expect(found).toEqual([])
  expect(clients.flatMap(({ closed }) => closed)).toEqual([])
  expect(telling()).toHaveLength(1)
  for (const { socket } of clients) socket.close()
  await expect.poll(() => telling().length, slow).toBe(0)
}, 300_000)
