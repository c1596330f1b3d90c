// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { seededRandom } from '../../clock/random.ts'
import { VirtualClock } from '../../clock/virtual-clock.ts'
import type { UpstreamSubscription } from '../socket-transport.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import { echo, startSocketNode, type SocketNodeOptions } from '../testing/socket-node.ts'
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

async function setUp(options: SocketNodeOptions) {
  const upstream = await startSocketNode(options)
  const clock = new VirtualClock()
  const transport = createWebSocketTransport(nodeUrlConfig(upstream.url), {
    clock,
    random: seededRandom(1),
    subscriptionsPerConnection: 2,
  })
  cleanups.push(
    () => upstream[Symbol.asyncDispose](),
    () => transport.close(),
  )
  return { upstream, clock, transport }
}

/** What a subscription said, and a way to wait for so many words of it. */
function hear(subscription: UpstreamSubscription) {
  const heard: string[] = []
  let wake = () => {}
  const say = (text: string) => {
    heard.push(text)
    wake()
  }
  subscription.listen({
    notified: ({ method, result }) => say(`${method} ${Buffer.from(result).toString()}`),
    lost: ({ fault }) => say(`lost ${fault}`),
  })
  const until = async (count: number) => {
    while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return heard
  }
  return { heard, until }
}

const eth = (id: string, result: unknown) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'eth_subscription',
    params: { subscription: id, result },
  })

describe('a subscription', () => {
  const forms: [string, (id: number, socket: WebSocket) => void, string[]][] = [
    [
      'of Ethereum',
      (id, socket) => {
        socket.send(`{"id":${id},"result":"0xa1"}`)
        socket.send(eth('0xa1', { number: '0x1' }))
        socket.send(eth('0xb2', { number: '0xf' }))
        socket.send(eth('0xa1', { number: '0x2' }))
      },
      ['eth_subscription {"number":"0x1"}', 'eth_subscription {"number":"0x2"}'],
    ],
    [
      'of Solana',
      (id, socket) => {
        socket.send(`{"id":${id},"result":23}`)
        for (const subscription of [2, 23])
          socket.send(
            `{"method":"slotNotification","params":{"result":{"slot":${subscription}},"subscription":${subscription}}}`,
          )
      },
      ['slotNotification {"slot":23}'],
    ],
    [
      'of Tendermint',
      (id, socket) => {
        socket.send(`{"id":${id},"result":{}}`)
        socket.send(`{"id":${id},"result":{"query":"q","data":1}}`)
        socket.send(`{"id":"${id}#event","result":{"query":"q","data":2}}`)
      },
      ['null {"query":"q","data":1}', 'null {"query":"q","data":2}'],
    ],
    [
      'whose first events come before its answer',
      (id, socket) => {
        socket.send(eth('0xa1', 1))
        socket.send(eth('0xb2', 9))
        socket.send(`{"id":${id},"result":"0xa1"}`)
        socket.send(eth('0xa1', 2))
      },
      ['eth_subscription 1', 'eth_subscription 2'],
    ],
  ]
  it.each(forms)('%s hears its own events and no others', async (_name, answer, expected) => {
    const { transport } = await setUp({ answer: ({ id }, socket) => answer(id, socket) })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    expect(Buffer.from(subscription.reply.body as Uint8Array).toString()).toContain('"id":"own"')
    expect(await hear(subscription).until(expected.length)).toEqual(expected)
  })

  it('keeps what comes before somebody listens', async () => {
    const { transport } = await setUp({
      answer: ({ id }, socket) => {
        socket.send(`{"id":${id},"result":"0xa1"}`)
        for (let at = 0; at < 100; at++) socket.send(eth('0xa1', at))
        socket.close(1001)
      },
    })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const { heard } = hear(subscription)
    expect(heard).toHaveLength(101)
    expect(heard.at(-1)).toBe('lost reset')
  })

  it('that the node refuses hears nothing, and holds no place', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"error":{"code":-32601}}`),
    })
    for (let at = 0; at < 5; at++) {
      const { reply } = await transport.subscribe(request('subscribe'), signal)
      expect(Buffer.from(reply.body as Uint8Array).toString()).toContain('-32601')
    }
    expect(upstream.upgrades).toHaveLength(1)
  })

  it('hears that Tendermint cancelled it', async () => {
    const { transport } = await setUp({
      answer: ({ id }, socket) => {
        socket.send(`{"id":${id},"result":{}}`)
        socket.send(`{"id":${id},"error":{"code":-32000,"data":"client is not pulling"}}`)
      },
    })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    expect(await hear(subscription).until(1)).toEqual(['lost reset'])
  })

  it('is lost with its connection, once', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0xa1"}`),
    })
    const { heard, until } = hear(await transport.subscribe(request('subscribe'), signal))
    upstream.connections[0]?.terminate()
    await until(1)
    await transport.close()
    expect(heard).toEqual(['lost reset'])
  })

  it('is ended on the connection that it is on', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0x${id}"}`),
    })
    const open = () => transport.subscribe(request('subscribe'), signal)
    const [first] = [await open(), await open(), await open()]
    const { heard } = hear(first)
    expect(upstream.upgrades).toHaveLength(2)
    first.close(request('unsubscribe'))
    while (upstream.received.length < 4) await new Promise((resolve) => setImmediate(resolve))
    upstream.connections[0]?.send(eth('0x1', 'late'))
    // The place on the first connection is free again.
    await open()
    expect(upstream.upgrades).toHaveLength(2)
    expect(heard).toEqual([])
  })

  it('is spread over connections, however many are asked for at once', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0x${id}"}`),
    })
    await Promise.all(
      Array.from({ length: 9 }, () => transport.subscribe(request('subscribe'), signal)),
    )
    expect(upstream.upgrades).toHaveLength(5)
  })

  it('has a connection apart from that of calls', async () => {
    const { upstream, transport } = await setUp({
      answer: (asked, socket) =>
        asked.method === 'subscribe'
          ? socket.send(`{"id":${asked.id},"result":"0xa1"}`)
          : echo(asked, socket),
    })
    await transport.send(request('eth_chainId'), signal)
    await transport.subscribe(request('subscribe'), signal)
    expect(upstream.upgrades).toHaveLength(2)
  })

  it('that was taken back leaves a connection on which no other is opened', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id, method }, socket) =>
        void (method === 'never' || socket.send(`{"id":${id},"result":"0x${id}"}`)),
    })
    await transport.subscribe(request('subscribe'), signal)
    const abort = new AbortController()
    const never = transport.subscribe(request('never'), abort.signal).catch(() => 'taken back')
    while (upstream.received.length < 2) await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    expect(await never).toBe('taken back')
    await transport.subscribe(request('subscribe'), signal)
    expect(upstream.upgrades).toHaveLength(2)
  })
})
