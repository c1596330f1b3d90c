// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterEach, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import type { Outgoing, UpstreamSubscription } from '../../wire.ts'
import { exchanged } from '../../testing/exchanged.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import { echo, startSocketNode, type SocketNodeOptions } from '../../testing/socket-node.ts'
import { createWebSocketTransport } from './ws-transport.ts'

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
    subscriptionsPerConnection: 2,
  })
  cleanups.push(
    () => upstream[Symbol.asyncDispose](),
    () => transport.close(),
  )
  return { upstream, clock, transport }
}

/** Records the events of a subscription, and waits for a number of them. */
function record(subscription: UpstreamSubscription) {
  const events: string[] = []
  let wake = () => {}
  const say = (text: string) => {
    events.push(text)
    wake()
  }
  subscription.listen({
    event: (result) => say(Buffer.from(result).toString()),
    lost: ({ fault }) => say(`lost ${fault}`),
  })
  const until = async (count: number) => {
    while (events.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return events
  }
  return { events, until }
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
      ['{"number":"0x1"}', '{"number":"0x2"}'],
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
      ['{"slot":23}'],
    ],
    [
      'of Tendermint',
      (id, socket) => {
        socket.send(`{"id":${id},"result":{}}`)
        socket.send(`{"id":${id},"result":{"query":"q","data":1}}`)
        socket.send(`{"id":"${id}#event","result":{"query":"q","data":2}}`)
      },
      ['{"query":"q","data":1}', '{"query":"q","data":2}'],
    ],
    [
      'with events before its answer',
      (id, socket) => {
        socket.send(eth('0xa1', 1))
        socket.send(eth('0xb2', 9))
        socket.send(`{"id":${id},"result":"0xa1"}`)
        socket.send(eth('0xa1', 2))
      },
      ['1', '2'],
    ],
  ]
  it.each(forms)('%s gets its own events and no others', async (_name, answer, expected) => {
    const { transport } = await setUp({ answer: ({ id }, socket) => answer(id, socket) })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    expect(Buffer.from(subscription.reply.body as Uint8Array).toString()).toContain('"id":"own"')
    expect(await record(subscription).until(expected.length)).toEqual(expected)
  })

  it('queues events until something listens', async () => {
    const { transport, upstream } = await setUp({
      answer: ({ id }, socket) => {
        socket.send(`{"id":${id},"result":"0xa1"}`)
        for (let at = 0; at < 100; at++) socket.send(eth('0xa1', at))
        socket.close(1001)
      },
    })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    await until(() => upstream.received.length === 1 && upstream.connections.length === 0)
    const { events } = record(subscription)
    expect(events).toHaveLength(101)
    expect(events.at(-1)).toBe('lost reset')
  })

  it('refused by the node gets no events, and uses no slot', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"error":{"code":-32601}}`),
    })
    for (let at = 0; at < 5; at++) {
      const { reply } = await transport.subscribe(request('subscribe'), signal)
      expect(Buffer.from(reply.body as Uint8Array).toString()).toContain('-32601')
    }
    expect(upstream.upgrades).toHaveLength(1)
  })

  const secret = 'ws://node.test/v2/SuperSecretKey12345'
  const ends: [string, string, (id: number) => string][] = [
    [
      'Tendermint cancelled it',
      '{}',
      (id) => `{"id":${id},"error":{"code":-32000,"data":"client is not pulling"}}`,
    ],
    ...[`{"message":"ended ${secret}"}`, '"too slow"', '{"code":1},"result":{"number":"0x1"}'].map(
      (error): [string, string, () => string] => [
        `the node ended it with ${error}`,
        '"0xa1"',
        () => `{"method":"eth_subscription","params":{"subscription":"0xa1","error":${error}}}`,
      ],
    ),
    [
      'the node sent nothing',
      '"0xa1"',
      () => '{"method":"eth_subscription","params":{"subscription":"0xa1"}}',
    ],
  ]
  it.each(ends)('learns that %s, and others on its connection do not', async (_, result, end) => {
    const { upstream, transport } = await setUp({
      answer: ({ id, method }, socket) => {
        if (method === 'other') return socket.send(`{"id":${id},"result":"0xb2"}`)
        socket.send(`{"id":${id},"result":${result}}`)
        socket.send(end(id))
        socket.send(eth('0xb2', 'on'))
      },
    })
    const other = record(await transport.subscribe(request('other'), signal))
    const subscription = await transport.subscribe(request('subscribe'), signal)
    expect(await record(subscription).until(1)).toEqual(['lost reset'])
    expect(await other.until(1)).toEqual(['"on"'])
    // The ended subscription needs no unsubscribe request, and its slot is free.
    subscription.close(request('unsubscribe'))
    await transport.subscribe(request('other'), signal)
    expect(upstream.upgrades).toHaveLength(1)
    expect(methodsIn(upstream.received)).not.toContain('unsubscribe')
  })

  it('never reports what the node said at the end', async () => {
    const { transport } = await setUp({
      answer: ({ id }, socket) => {
        const error = `{"message":"ended ${secret}"}`
        socket.send(`{"id":${id},"result":"0xa1"}`)
        socket.send(
          `{"method":"eth_subscription","params":{"subscription":"0xa1","error":${error}}}`,
        )
      },
    })
    const subscription = await transport.subscribe(request('subscribe'), signal)
    const error = await new Promise<Error>((lost) => {
      subscription.listen({ event: () => undefined, lost })
    })
    expect(error.message).toBe('the node ended the subscription')
    expect(error.cause).toBeUndefined()
  })

  it('is lost with its connection, once', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0xa1"}`),
    })
    const { events, until } = record(await transport.subscribe(request('subscribe'), signal))
    upstream.connections[0]?.terminate()
    await until(1)
    await transport.close()
    expect(events).toEqual(['lost reset'])
  })

  it('is ended on its own connection', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0x${id}"}`),
    })
    const open = () => transport.subscribe(request('subscribe'), signal)
    const [first] = [await open(), await open(), await open()]
    const { events } = record(first)
    expect(upstream.upgrades).toHaveLength(2)
    first.close(request('unsubscribe'))
    while (upstream.received.length < 4) await new Promise((resolve) => setImmediate(resolve))
    upstream.connections[0]?.send(eth('0x1', 'late'))
    // The slot on the first connection is free again.
    await open()
    expect(upstream.upgrades).toHaveLength(2)
    expect(events).toEqual([])
  })

  it('is spread over connections, whatever the number of concurrent requests', async () => {
    const { upstream, transport } = await setUp({
      answer: ({ id }, socket) => socket.send(`{"id":${id},"result":"0x${id}"}`),
    })
    await Promise.all(
      Array.from({ length: 9 }, () => transport.subscribe(request('subscribe'), signal)),
    )
    expect(upstream.upgrades).toHaveLength(5)
  })

  it('has a different connection from calls', async () => {
    const { upstream, transport } = await setUp({
      answer: (request, socket) =>
        request.method === 'subscribe'
          ? socket.send(`{"id":${request.id},"result":"0xa1"}`)
          : echo(request, socket),
    })
    await transport.send(request('eth_chainId'), signal)
    await transport.subscribe(request('subscribe'), signal)
    expect(upstream.upgrades).toHaveLength(2)
  })
})

/** Waits for arrivals on a real wire. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}

const methodsIn = (received: readonly string[]) =>
  received.map((text) => (JSON.parse(text) as { method: string }).method)

describe('two subscriptions that share an id at the node', () => {
  async function twins() {
    const scene = await setUp({
      answer: ({ id, method }, socket) =>
        void (method === 'never' || socket.send(`{"id":${id},"result":7}`)),
    })
    const open = () => scene.transport.subscribe(request('subscribe'), signal)
    const push = (text: string) =>
      scene.upstream.connections[0]?.send(
        `{"method":"accountNotification","params":{"result":"${text}","subscription":7}}`,
      )
    const [first, second] = [await open(), await open()]
    return { ...scene, open, push, first, second }
  }

  it('both get each event, until the last of them leaves', async () => {
    const { upstream, push, first, second } = await twins()
    const [one, two] = [record(first), record(second)]
    push('a')
    expect(await one.until(1)).toEqual(await two.until(1))
    second.close(request('unsubscribe'))
    push('b')
    expect((await one.until(2))[1]).toBe('"b"')
    expect(two.events).toHaveLength(1)
    expect(methodsIn(upstream.received)).toEqual(['subscribe', 'subscribe'])
    first.close(request('unsubscribe'))
    await until(() => upstream.received.length === 3)
    expect(methodsIn(upstream.received)[2]).toBe('unsubscribe')
  })

  it('both end with the last event, and both are lost with the connection', async () => {
    const { upstream, push, first, second } = await twins()
    const events: string[] = []
    for (const each of [first, second])
      each.listen({
        event(result) {
          events.push(Buffer.from(result).toString())
          each.close(null)
        },
        lost: () => events.push('lost'),
      })
    push('last')
    await until(() => events.length === 2)
    expect(events).toEqual(['"last"', '"last"'])
    upstream.connections[0]?.terminate()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(events).toHaveLength(2)
  })

  it('one that leaves while another subscribes does not end it', async () => {
    const { upstream, open, push, first, second } = await twins()
    second.close(request('unsubscribe'))
    const pending = open()
    first.close(request('unsubscribe'))
    const { until: events } = record(await pending)
    push('a')
    expect(await events(1)).toEqual(['"a"'])
    expect(methodsIn(upstream.received)).not.toContain('unsubscribe')
  })
})

describe('a subscribe request', () => {
  /** A node that answers when the test says so. */
  async function late() {
    const answers: (() => void)[] = []
    const scene = await setUp({
      answer: ({ id, method }, socket) => {
        if (method === 'subscribe')
          answers.push(() => socket.send(`{"id":${id},"result":"0x${id}"}`))
      },
    })
    return { ...scene, answers }
  }

  it('is answered even if aborted, since only the answer has the id to unsubscribe', async () => {
    const { upstream, transport, answers } = await late()
    const abort = new AbortController()
    const pending = transport.subscribe(request('subscribe'), abort.signal)
    await until(() => answers.length === 1)
    abort.abort()
    answers[0]?.()
    const subscription = await pending
    subscription.close(request('unsubscribe'))
    await until(() => upstream.received.length === 2)
    expect(methodsIn(upstream.received)).toEqual(['subscribe', 'unsubscribe'])
  })

  it('without an answer fails after 30 s, and others of its connection continue', async () => {
    const { upstream, clock, transport, answers } = await late()
    const open = transport.subscribe(request('subscribe'), signal)
    await until(() => answers.length > 0)
    answers.pop()?.()
    const { events } = record(await open)
    const failed = transport
      .subscribe(request('subscribe'), signal)
      .catch((error: unknown) => error)
    // The node must have time to answer pings before the clock advances.
    for (let each = 0; each < 31; each++) {
      await clock.advance(1_000)
      await exchanged(...upstream.connections)
    }
    expect(await failed).toMatchObject({ fault: 'timeout' })
    expect(events).toEqual([])
    const next = transport.subscribe(request('subscribe'), signal)
    await until(() => answers.length > 1)
    answers.pop()?.()
    await next
    expect(upstream.upgrades).toHaveLength(1)
  })
})

it('delivers events from before the answer first, up to a limit', async () => {
  const { transport } = await setUp({
    answer: ({ id }, socket) => {
      for (let each = 0; each < 1_000; each++) socket.send(eth('0xa1', each))
      socket.send(`{"id":${id},"result":"0xa1"}`)
      socket.send(eth('0xa1', 'next'))
    },
  })
  const events = await record(await transport.subscribe(request('subscribe'), signal)).until(65)
  expect([events[0], events[63], events[64]]).toEqual(['936', '999', '"next"'])
})

it('abandoned subscriptions do not end a connection', async () => {
  const stray = '{"method":"eth_subscription","params":{"subscription":"0xold","result":1}}'
  const { upstream, transport } = await setUp({
    answer: (request, socket) => {
      for (const each of [stray, '{"method":"hello"}']) socket.send(each)
      echo(request, socket)
    },
  })
  await transport.send(request('eth_chainId'), signal)
  const subscription = await transport.subscribe(request('subscribe'), signal)
  subscription.close(null)
  await transport.send(request('eth_chainId'), signal)
  expect(upstream.upgrades).toHaveLength(2)
})
