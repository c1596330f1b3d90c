// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { seededRandom } from '../../clock/random.ts'
import { VirtualClock } from '../../clock/virtual-clock.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import { startSocketNode, type NodeRequest } from '../testing/socket-node.ts'
import type { Outgoing } from '../wire.ts'
import { createWebSocketTransport } from './websocket-transport.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const signal = new AbortController().signal

function request(method: string): Outgoing {
  const body = Buffer.from(JSON.stringify({ id: 'own', method }))
  return { verb: 'POST', path: '', headers: [], body }
}

/** A node whose answers, and what it says beside them, are the test's. */
async function setUp(answer: (request: NodeRequest, socket: WebSocket) => void) {
  const node = await startSocketNode({ answer })
  const clock = new VirtualClock()
  const transport = createWebSocketTransport(nodeUrlConfig(node.url), {
    clock,
    random: seededRandom(1),
    subscriptionsPerConnection: 2,
  })
  cleanups.push(
    () => node[Symbol.asyncDispose](),
    () => transport.close(),
  )
  const call = async (method = 'read') => {
    const { body } = await transport.send(request(method), signal)
    return (JSON.parse(Buffer.from(body as Uint8Array).toString()) as { result: unknown }).result
  }
  return { node, clock, transport, call }
}

/** Waits for what comes over a real wire. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}

const answerTo = ({ id, method }: NodeRequest) => `{"id":${id},"result":"${method}"}`

const notifications = [
  '{"method":"starknet_subscriptionNewHeads","params":{"subscription_id":"1","result":{}}}',
  '{"method":"parity_subscription","params":{"subscription":"0x1","result":{}}}',
  '{"method":"parity_subscription","params":{"subscription":"0x1","error":"over"}}',
  '{"method":"xrpc.ch.val","params":[1,{}]}',
  '{"method":"hello"}',
]
test.each(notifications)(
  'what nobody can have asked for ends with its connection: %s',
  async (text) => {
    const { node, call } = await setUp((asked, socket) => {
      socket.send(answerTo(asked))
      if (asked.method === 'open') socket.send(text)
    })
    expect(await call('open')).toBe('open')
    await until(() => node.connections.length === 0)
    expect(await call()).toBe('read')
    expect(node.upgrades).toHaveLength(2)
  },
)

test('calls that are in flight get their answers first, and new ones go elsewhere', async () => {
  const held: (() => void)[] = []
  const { node, call } = await setUp((asked, socket) => {
    if (asked.method !== 'slow') return socket.send(answerTo(asked))
    held.push(() => socket.send(answerTo(asked)))
    socket.send(notifications[0] as string)
  })
  const slow = call('slow')
  await until(() => held.length === 1)
  // Whichever has been read first: the notification was there before this one's answer.
  await call()
  await call()
  await until(() => node.upgrades.length === 2)
  expect(node.connections).toHaveLength(2)
  held[0]?.()
  expect(await slow).toBe('slow')
  await until(() => node.connections.length === 1)
  expect(await call()).toBe('read')
  expect(node.upgrades).toHaveLength(2)
})

test('a node that notifies of its own accord costs a connection every 10 s at most', async () => {
  const { node, clock, call } = await setUp((asked, socket) => {
    socket.send(notifications[4] as string)
    socket.send(answerTo(asked))
  })
  for (let each = 0; each < 50; each++) await call()
  expect(node.upgrades).toHaveLength(2)
  await clock.advance(9_999)
  await call()
  expect(node.upgrades).toHaveLength(2)
  await clock.advance(1)
  await call()
  await call()
  expect(node.upgrades).toHaveLength(3)
})

test('where subscriptions are, what nobody hears any more is no reason to leave', async () => {
  const { node, transport, call } = await setUp((asked, socket) => {
    socket.send('{"method":"eth_subscription","params":{"subscription":"0xold","result":1}}')
    socket.send(answerTo(asked))
  })
  const opened = await transport.subscribe(request('subscribe'), signal, () => null)
  opened.close(null)
  await transport.subscribe(request('subscribe'), signal, () => null)
  expect(node.connections).toHaveLength(1)
  await call()
  expect(node.upgrades).toHaveLength(2)
})
