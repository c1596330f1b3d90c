// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { connect as netConnect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Relay } from '../../relay/relay.ts'
import { ethereumForm } from '../../subscription/ethereum/form.ts'
import type { SubscriptionServing } from '../listener.ts'
import { exchanged } from '../../upstream/testing/exchanged.ts'
import { TransportError } from '../../upstream/wire.ts'
import {
  RawClient,
  echoRelay,
  reply,
  startListener,
  type FixtureOptions,
} from '../testing/listener-fixture.ts'

const upgrade = [
  ...['GET / HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade'],
  ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13', '', ''],
].join('\r\n')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function listen(relay: Relay = echoRelay, options: FixtureOptions = {}) {
  const fixture = await startListener(relay, options)
  cleanups.push(() => fixture[Symbol.asyncDispose]())
  return fixture
}

/** A client, and the messages it received. */
class Client {
  readonly socket: WebSocket
  readonly received: string[] = []
  closed: { code: number; reason: string } | null = null
  #wake = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      this.received.push(isBinary ? 'binary' : data.toString())
      this.#wake()
    })
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.#wake()
    })
    socket.on('error', () => undefined)
  }

  async until(count: number): Promise<readonly string[]> {
    while (this.received.length < count) {
      if (this.closed) throw new Error(`closed with ${JSON.stringify(this.closed)}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.received
  }

  async untilClosed() {
    while (!this.closed) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.closed
  }

  async ask(text: string): Promise<string> {
    const before = this.received.length
    this.socket.send(text)
    return (await this.until(before + 1))[before] as string
  }
}

async function connect(
  port: number,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
  cleanups.push(() => {
    socket.terminate()
  })
  const client = new Client(socket)
  await once(socket, 'open')
  return client
}

const call = (id: number, method = 'eth_chainId') => JSON.stringify({ jsonrpc: '2.0', id, method })

describe('a WebSocket', () => {
  it.each(['/', '/ws', '/websocket', '/ws?key=1'])('is served at %s', async (path) => {
    const { port } = await listen()
    const client = await connect(port, path)
    expect(await client.ask(call(1))).toBe('{"jsonrpc":"2.0","id":1,"result":"eth_chainId"}')
  })

  it("is served at a chain's own paths, and its calls go to that path of the node", async () => {
    const { port, calls } = await listen(echoRelay, { internalPaths: ['/C/rpc'] })
    for (const path of ['/C/rpc', '/']) await (await connect(port, path)).ask(call(1))
    expect(calls.map(({ request }) => request.path)).toEqual(['/C/rpc', ''])
  })

  it.each([
    ['another path', '/other', {}, 404],
    ['a fragment', '/ws#a', {}, 400],
    ['a fragment after a query', '/ws?a#b', {}, 400],
    ['no key', '/ws', { 'Sec-WebSocket-Key': '' }, 400],
    ['another version', '/ws', { 'Sec-WebSocket-Version': '7' }, 400],
  ])('is not served with %s', async (_name, path, headers, status) => {
    const { port } = await listen()
    using client = new RawClient(port)
    const all = {
      Host: 'x',
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
    client.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    expect(await client.until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('names the router version and the connection in its upgrade, and does not compress', async () => {
    const { port } = await listen()
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`)
    cleanups.push(() => socket.terminate())
    const [response] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }]
    expect(response.headers).toMatchObject({ 'router-version': '1.2.3', 'rpc-guid': 'guid1' })
    expect(response.headers['sec-websocket-extensions']).toBeUndefined()
  })

  it('accepts single, batch and binary messages, and answers in text', async () => {
    const { port, calls } = await listen()
    const client = await connect(port)
    expect(await client.ask(`[${call(1)},${call(2, 'net_version')}]`)).toBe(
      '[{"jsonrpc":"2.0","id":1,"result":"eth_chainId"},{"jsonrpc":"2.0","id":2,"result":"net_version"}]',
    )
    client.socket.send(Buffer.from(call(3)), { binary: true })
    expect((await client.until(2))[1]).toContain('"id":3')
    expect(calls.map(({ guid }) => guid)).toEqual(['guid1-1-0', 'guid1-1-1', 'guid1-2'])
  })

  it('accepts a fragmented message with pings between the fragments', async () => {
    const { port } = await listen()
    const { socket, received, until } = await connect(port).then((client) => ({
      socket: client.socket,
      received: client.received,
      until: (count: number) => client.until(count),
    }))
    const text = call(1)
    socket.send(text.slice(0, 10), { fin: false })
    socket.ping()
    await once(socket, 'pong')
    expect(received).toEqual([])
    socket.send(text.slice(10))
    await until(1)
  })

  it('answers in the order of completion', async () => {
    const slow = Promise.withResolvers<void>()
    const relay: Relay = async (call) => {
      if (call.method.name === 'slow') await slow.promise
      return echoRelay(call)
    }
    const { port } = await listen(relay)
    const client = await connect(port)
    client.socket.send(call(1, 'slow'))
    client.socket.send(call(2))
    expect((await client.until(1))[0]).toContain('"id":2')
    slow.resolve()
    expect((await client.until(2))[1]).toContain('"id":1')
  })

  it('takes its directives and headers from the upgrade request', async () => {
    const { port, calls } = await listen(echoRelay, { requestHeaders: ['x-passed'] })
    const client = await connect(port, '/', {
      'rpc-select-provider': 'beta',
      'x-passed': 'yes',
      'x-kept': 'no',
    })
    await client.ask(call(1))
    expect(calls[0]?.directives.selectProvider).toBe('beta')
    expect(calls[0]?.request.headers).toEqual([
      'content-type',
      'application/json',
      'x-passed',
      'yes',
    ])
  })

  it('answers nothing to a notification', async () => {
    const { port, ends } = await listen()
    const client = await connect(port)
    client.socket.send('{"jsonrpc":"2.0","method":"eth_chainId"}')
    expect(await client.ask(call(2))).toContain('"id":2')
    expect(ends).toHaveLength(2)
    expect(client.received).toHaveLength(1)
  })

  const mistakes: [string, string, object][] = [
    ['text that is not JSON', 'hello', { id: null, error: { code: -32700 } }],
    ['an empty message', '', { id: null, error: { code: -32700 } }],
    ['JSON that is no request', '{"id":7}', { id: 7, error: { code: -32600 } }],
    ['an empty batch', '[]', { id: null, error: { code: -32600 } }],
    [
      'a subscription on a chain without any',
      call(8, 'eth_subscribe'),
      { id: 8, error: { code: -32601 } },
    ],
  ]
  it.each(mistakes)('answers %s with an error, and stays open', async (_name, text, expected) => {
    const { port, refusals } = await listen()
    const client = await connect(port)
    expect(JSON.parse(await client.ask(text))).toMatchObject(expected)
    expect(refusals).toHaveLength(1)
    expect(await client.ask(call(1))).toContain('"result"')
  })

  it('returns router errors, and answers that are not JSON-RPC, as JSON-RPC errors', async () => {
    const relay: Relay = (call) =>
      call.method.name === 'page'
        ? Promise.resolve(reply('<html>', { status: 502 }))
        : Promise.reject(new RelayError(errorKinds.noUpstream, 'none'))
    const { port } = await listen(relay)
    const client = await connect(port)
    expect(JSON.parse(await client.ask(call(1)))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32050, message: 'none', data: { guid: 'guid1-1', reason: 'no-upstream' } },
    })
    expect(JSON.parse(await client.ask(call(2, 'page')))).toMatchObject({
      id: 2,
      error: { code: -32052 },
    })
  })

  it('closes with 1009 on a message over the limit, and 1007 on text that is not UTF-8', async () => {
    const { port } = await listen(echoRelay, { socketLimits: { maxMessageBytes: 1_000 } })
    const long = await connect(port)
    long.socket.send(' '.repeat(1_001))
    expect((await long.untilClosed()).code).toBe(1009)
    const odd = await connect(port)
    odd.socket.send(Buffer.of(0xff, 0xfe), { binary: false })
    expect((await odd.untilClosed()).code).toBe(1007)
  })

  it.each([
    ['256 of one byte', 256, 1, 'an answer'],
    ['a few more of one byte', 260, 1, 1008],
    ['600 of 600 bytes', 600, 600, 'an answer'],
    ['9,000 of a kibibyte, as the client of geth sends them', 9_000, 1_024, 'an answer'],
    ['600 of 500 bytes', 600, 500, 1008],
    ['thousands of one byte', 16_000, 1, 1008],
    ['thousands without a byte', 16_000, 0, 1008],
  ])('a message in fragments, %s', async (_, fragments, length, outcome) => {
    const { port } = await listen()
    const client = await connect(port)
    const first = call(1).padEnd(length)
    for (let at = 0; at < fragments - 1; at++)
      client.socket.send(at === 0 ? first : ' '.repeat(length), { fin: false, binary: false })
    client.socket.send(' '.repeat(length))
    const isOver = () => client.received.length > 0 || client.socket.readyState === WebSocket.CLOSED
    await expect.poll(isOver, { timeout: 20_000 }).toBe(true)
    const [answer = (await client.untilClosed()).code] = client.received
    expect(answer).toEqual(outcome === 1008 ? 1008 : expect.stringContaining('"id":1'))
  })

  it('is closed for calls too short to be valid', async () => {
    const { port } = await listen()
    const client = await connect(port)
    for (let at = 0; at < 20_000; at++) client.socket.send(' ')
    expect((await client.untilClosed()).code).toBe(1008)
  })

  it('aborts its calls when the client disconnects', async () => {
    const left = Promise.withResolvers<void>()
    const relay: Relay = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          left.resolve()
          reject(new Error('gone'))
        })
      })
    const fixture = await listen(relay)
    const client = await connect(fixture.port)
    client.socket.send(call(1))
    while (fixture.calls.length === 0) await sleep(1)
    client.socket.terminate()
    await left.promise
    await expect.poll(() => fixture.ends).toEqual([{ kind: 'abandoned' }])
    await expect.poll(() => [fixture.openConnections(), fixture.openSockets()]).toEqual([0, 0])
  })
})

describe('a long answer', () => {
  const parts = [
    '{"jsonrpc":"2.0","id":1,"result":"',
    'x'.repeat(300_000),
    'y'.repeat(70_000),
    '"}',
  ]
  async function* stream(pieces: readonly string[]) {
    for (const piece of pieces) {
      yield Buffer.from(piece)
      await sleep(1)
    }
  }
  const streaming =
    (pieces: () => AsyncIterable<Uint8Array>): Relay =>
    (call) =>
      call.method.name === 'long' ? Promise.resolve(reply(pieces())) : echoRelay(call)

  it('is sent in fragments as it comes, with no other message between them', async () => {
    const { port, ends } = await listen(streaming(() => stream(parts)))
    const client = await connect(port)
    client.socket.send(call(1, 'long'))
    client.socket.send(call(2))
    client.socket.send(call(3, 'long'))
    const received = await client.until(3)
    expect(received.toSorted((a, b) => a.length - b.length)).toEqual([
      '{"jsonrpc":"2.0","id":2,"result":"eth_chainId"}',
      parts.join(''),
      parts.join(''),
    ])
    await expect.poll(() => ends.map(({ kind }) => kind)).toEqual(['reply', 'reply', 'reply'])
  })

  it('closes the connection with 1011 when it breaks off', async () => {
    async function* broken() {
      yield* stream(parts.slice(0, 2))
      throw new TransportError('truncated', 'cut')
    }
    const { port, ends } = await listen(streaming(broken))
    const client = await connect(port)
    client.socket.send(call(1, 'long'))
    expect(await client.untilClosed()).toEqual({
      code: 1011,
      reason: 'the answer of the upstream broke off',
    })
    expect(ends).toMatchObject([{ kind: 'error' }])
  })

  it('is an error when it breaks off before its first byte, and the connection survives', async () => {
    // oxlint-disable-next-line require-yield
    async function* broken(): AsyncGenerator<Uint8Array> {
      throw new TransportError('truncated', 'cut')
    }
    const { port } = await listen(streaming(broken))
    const client = await connect(port)
    expect(JSON.parse(await client.ask(call(1, 'long')))).toMatchObject({
      id: 1,
      error: { code: -32052 },
    })
    expect(await client.ask(call(2))).toContain('"result"')
  })

  it('waits for a slow reader, and pauses its source meanwhile', async () => {
    let yielded = 0
    async function* endless() {
      yield Buffer.from('{"jsonrpc":"2.0","id":1,"result":"')
      for (; yielded < 1_000; yielded++) yield Buffer.alloc(64 * 1024, 0x78)
      yield Buffer.from('"}')
    }
    const { port } = await listen(streaming(endless))
    const client = await connect(port)
    client.socket.pause()
    client.socket.send(call(1, 'long'))
    let before = -1
    const stands = () => {
      const isStill = yielded > 0 && yielded === before
      before = yielded
      return isStill
    }
    await expect.poll(stands, { interval: 200 }).toBe(true)
    expect(yielded).toBeLessThan(500)
    client.socket.resume()
    expect((await client.until(1))[0]?.length).toBeGreaterThan(65_000_000)
  })
})

describe('limits', () => {
  it('excess calls wait, and none is lost', async () => {
    let running = 0
    let most = 0
    const relay: Relay = async (call) => {
      most = Math.max(most, ++running)
      await sleep(2)
      running -= 1
      return echoRelay(call)
    }
    const { port } = await listen(relay, { socketLimits: { maxCalls: 5 } })
    const client = await connect(port)
    for (let id = 1; id <= 500; id++) client.socket.send(call(id))
    const ids = (await client.until(500)).map((text) => (JSON.parse(text) as { id: number }).id)
    expect(new Set(ids).size).toBe(500)
    expect(most).toBe(5)
  })

  it('a client that sends calls and never reads is closed, within the memory limit', async () => {
    const clock = new VirtualClock()
    const long = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(900_000) })
    const { port, calls, openSockets } = await listen(() => Promise.resolve(reply(long)), {
      clock,
      socketLimits: { maxCalls: 100, maxBufferedBytes: 1024 * 1024 },
    })
    const client = await connect(port)
    client.socket.pause()
    for (let at = 0; at < 100; at++) client.socket.send(call(1))
    await expect.poll(() => calls.length).toBeGreaterThan(7)
    await sleep(100)
    // Eight fit before answer lengths are known; the others go to two socket buffers on loopback.
    expect(calls.length).toBeLessThan(22)
    await clock.advance(60_000)
    client.socket.resume()
    expect(await client.untilClosed()).toEqual({
      code: 1008,
      reason: 'the client read nothing for 60 s',
    })
    await expect.poll(openSockets).toBe(0)
  })

  it('an idle client is closed, and an unresponsive one is cut off', async () => {
    const clock = new VirtualClock()
    const { port, openSockets } = await listen(echoRelay, {
      clock,
      socketLimits: { idleTimeoutMs: 120_000 },
    })
    const [idle, dead] = [await connect(port), await connect(port)]
    await Promise.all([idle.ask(call(1)), dead.ask(call(1))])
    dead.socket.pause()
    for (let at = 0; at < 6; at++) {
      await clock.advance(15_000)
      await exchanged(idle.socket)
    }
    expect(openSockets()).toBe(1)
    for (let at = 0; at < 3; at++) {
      await clock.advance(15_000)
      await exchanged(idle.socket)
    }
    expect(await idle.untilClosed()).toMatchObject({ code: 1000 })
    await expect.poll(openSockets).toBe(0)
  })
})

describe('a message that arrives in parts', () => {
  const parts = ['{"jsonrpc":"2.0","id":1,', '"method":"eth_chainId"}'] as const

  it('is served when complete, and closes the connection when that takes a minute', async () => {
    const clock = new VirtualClock()
    const { port, openSockets } = await listen(echoRelay, { clock })
    const [quick, slow, subscribed] = await Promise.all([0, 1, 2].map(() => connect(port)))
    for (const client of [quick, slow]) client!.socket.send(parts[0], { fin: false })
    const pass = async () => {
      await clock.advance(15_000)
      // A client may send pings between the parts, and answers the router's pings.
      await exchanged(quick!.socket, slow!.socket, subscribed!.socket)
    }
    for (let at = 0; at < 3; at++) await pass()
    quick!.socket.send(parts[1])
    await quick!.until(1)
    for (let at = 0; at < 3; at++) await pass()
    expect(slow!.closed).toEqual({ code: 1008, reason: 'a message was not complete in 60 s' })
    expect([quick!.closed, subscribed!.closed]).toEqual([null, null])
    for (const client of [quick, subscribed]) client!.socket.terminate()
    await expect.poll(openSockets).toBe(0)
  })

  it('counts in the process budget', async () => {
    const budget = new ByteBudget(1e9)
    const { port } = await listen(echoRelay, { budget })
    const client = await connect(port)
    client.socket.send(' '.repeat(1_000_000), { fin: false })
    await expect.poll(() => budget.heldBytes).toBeGreaterThan(1_000_000)
    client.socket.send('{}')
    await client.until(1)
    await expect.poll(() => budget.heldBytes).toBe(0)
    client.socket.send(' '.repeat(1_000_000), { fin: false })
    await expect.poll(() => budget.heldBytes).toBeGreaterThan(1_000_000)
    client.socket.terminate()
    await expect.poll(() => budget.heldBytes).toBe(0)
  })
})

it('when the process budget is full, a new message closes its connection, and the others continue', async () => {
  const budget = new ByteBudget(100_000)
  const answer = Promise.withResolvers<void>()
  const { port, calls } = await listen(
    async (call) => {
      await answer.promise
      return echoRelay(call)
    },
    { budget },
  )
  const [busy, late, quiet] = await Promise.all([0, 1, 2].map(() => connect(port)))
  busy!.socket.send(call(1) + ' '.repeat(20_000))
  await expect.poll(() => calls.length).toBe(1)
  budget.hold(budget.maxBytes)
  late!.socket.send(call(2))
  expect(await late!.untilClosed()).toEqual({
    code: 1013,
    reason: 'the memory budget of the router is full; try again',
  })
  quiet!.socket.ping()
  await once(quiet!.socket, 'pong')
  answer.resolve()
  expect(JSON.parse((await busy!.until(1))[0] as string)).toMatchObject({ id: 1 })
  budget.release(budget.maxBytes)
  await expect.poll(() => budget.heldBytes).toBe(0)
  expect(await quiet!.ask(call(3))).toContain('"id":3')
})

it('a client that sends thousands of calls at once delays no other', async () => {
  const { port } = await listen(echoRelay)
  const [greedy, other] = await Promise.all([connect(port), connect(port)])
  let answered = 0
  greedy.socket.on('message', () => (answered += 1))
  for (let id = 0; id < 5_000; id++) greedy.socket.send(call(id))
  await expect.poll(() => answered).toBeGreaterThan(0)
  await other.ask(call(1))
  expect(answered).toBeLessThan(5_000)
  await expect.poll(() => answered).toBe(5_000)
})

describe('a stop', () => {
  it('answers calls in flight, closes with 1001, and accepts no new WebSocket', async () => {
    const slow = Promise.withResolvers<void>()
    const relay: Relay = async (call) => {
      await slow.promise
      return echoRelay(call)
    }
    const fixture = await listen(relay)
    const [busy, idle] = [await connect(fixture.port), await connect(fixture.port)]
    busy.socket.send(call(1))
    while (fixture.calls.length === 0) await sleep(1)
    const drained = fixture.drain()
    expect(await idle.untilClosed()).toEqual({ code: 1001, reason: 'the router is shutting down' })
    expect(busy.closed).toBeNull()
    const late = new WebSocket(`ws://127.0.0.1:${fixture.port}/`)
    const [error] = (await once(late, 'error')) as [Error]
    expect(error.message).toContain('503')
    slow.resolve()
    expect(await busy.untilClosed()).toMatchObject({ code: 1001 })
    expect(busy.received).toHaveLength(1)
    await drained
    await fixture.close()
  })

  it.each(['at once', 'when it is refused'])(
    'is not disturbed by a new client, and cuts the connection %s',
    async (when) => {
      const slow = Promise.withResolvers<void>()
      const fixture = await listen(async (call) => {
        await slow.promise
        return echoRelay(call)
      })
      const busy = await connect(fixture.port)
      busy.socket.send(call(1))
      while (fixture.calls.length === 0) await sleep(1)
      const drained = fixture.drain()
      for (let each = 0; each < 10; each++) {
        const wire = netConnect(fixture.port, '127.0.0.1').on('error', () => {})
        await once(wire, 'connect')
        wire.write(upgrade, () => {
          if (when === 'at once') wire.resetAndDestroy()
        })
        if (when === 'at once') await once(wire, 'close')
        else {
          const [refusal] = (await once(wire, 'data')) as [Buffer]
          expect(refusal.toString()).toContain('503')
          wire.resetAndDestroy()
        }
      }
      slow.resolve()
      expect(await busy.untilClosed()).toMatchObject({ code: 1001 })
      expect(busy.received).toHaveLength(1)
      await drained
      await fixture.close()
    },
  )

  it('does not wait for a call that never ends', async () => {
    const fixture = await listen(() => new Promise(() => undefined))
    const client = await connect(fixture.port)
    client.socket.send(call(1))
    while (fixture.calls.length === 0) await sleep(1)
    await fixture.close()
    expect((await client.untilClosed()).code).toBe(1006)
  })
})

it('a subscription that the router does not support is refused with that message', async () => {
  const { url } = await listen()
  const response = await fetch(url, { method: 'POST', body: call(4, 'eth_subscribe') })
  expect(await response.json()).toMatchObject({
    id: 4,
    error: { code: -32601, message: 'eth_subscribe: the router has no such subscription' },
  })
})

it('HTTP refuses a subscription, with its id and the remedy', async () => {
  const subscriptions = { form: ethereumForm } as SubscriptionServing
  const { url, port } = await listen(echoRelay, { subscriptions })
  const ask = async (body: string) => {
    const response = await fetch(url, { method: 'POST', body })
    return [response.status, await response.json()] as const
  }
  const refusal = {
    id: 4,
    error: {
      code: -32601,
      message:
        'eth_subscribe needs a WebSocket: connect to the same address with ws:// instead of http://',
      data: { reason: 'needs-websocket' },
    },
  }
  const [status, body] = await ask(call(4, 'eth_subscribe'))
  expect(status).toBe(200)
  expect(body).toMatchObject(refusal)
  const [, batch] = await ask(`[${call(4, 'eth_subscribe')},${call(5)}]`)
  expect(batch).toMatchObject([refusal, { id: 5, result: 'eth_chainId' }])
  expect(port).toBeGreaterThan(0)
})
