// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { Secret } from '../../../config/secret.ts'
import type { NodeUrlConfig } from '../../../config/types.ts'
import { type Outgoing, type SocketTransport, TransportError } from '../../wire.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import { echo, startSocketNode, type SocketNodeOptions } from '../../testing/socket-node.ts'
import { createWebSocketTransport } from './ws-transport.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const signal = new AbortController().signal

function request(text: string): Outgoing {
  return { verb: 'POST', path: '', headers: [], body: Buffer.from(text) }
}

const plain = request('{"jsonrpc":"2.0","id":"mine","method":"eth_chainId"}')

function transportTo(url: string, clock = new VirtualClock(), different?: Partial<NodeUrlConfig>) {
  const transport = createWebSocketTransport(nodeUrlConfig(url, different), {
    clock,
    subscriptionsPerConnection: 2,
  })
  cleanups.push(() => transport.close())
  return transport
}

async function node(options?: SocketNodeOptions) {
  const started = await startSocketNode(options)
  cleanups.push(() => started[Symbol.asyncDispose]())
  return started
}

async function text(transport: SocketTransport, request = plain): Promise<string> {
  const { body } = await transport.send(request, signal)
  return Buffer.from(body as Uint8Array).toString()
}

function faultOf(work: Promise<unknown>): Promise<TransportError> {
  return work.then(
    () => expect.fail('an answer came'),
    (error: TransportError) => error,
  )
}

describe('a call', () => {
  it('is answered byte for byte, with its own id', async () => {
    const { url } = await node({
      answer: ({ id }, socket) => {
        socket.send(`{ "result" : [1e2, "\\u00e9"],"id":${id} , "jsonrpc":"2.0"}`)
      },
    })
    const answer = await text(transportTo(url), request('{"id":"a\\"b" , "method":"x"}'))
    expect(answer).toBe('{ "result" : [1e2, "\\u00e9"],"id":"a\\"b" , "jsonrpc":"2.0"}')
  })

  it('goes out byte for byte, except for its id', async () => {
    const upstream = await node()
    await text(transportTo(upstream.url), request('{ "method":"x","id" :null, "params":[1.0]}'))
    expect(upstream.received[0]).toMatch(/^\{ "method":"x","id" :\d+, "params":\[1\.0\]\}$/)
  })

  it('carries the keys of the URL, of its headers and its query', async () => {
    const upstream = await node()
    const url = upstream.url.replace('//', '//')
    const transport = transportTo(`${url}/v1?a=b`, undefined, {
      authHeaders: new Map([['x-key', new Secret('k1')]]),
      authQuery: new Map([['token', new Secret('t 1')]]),
    })
    await text(transport)
    expect(upstream.upgrades[0]?.url).toBe('/v1?a=b&token=t%201')
    expect(upstream.upgrades[0]?.headers['x-key']).toBe('k1')
    expect(upstream.upgrades[0]?.headers['sec-websocket-extensions']).toBeUndefined()
  })

  it('goes to the URL as it is, whatever HTTP path the method has', async () => {
    const upstream = await node()
    const transport = transportTo(`${upstream.url}/ext/bc/C/ws`)
    await text(transport, { ...plain, path: '/C/rpc' })
    await text(transport, { ...plain, path: '/P' })
    expect(upstream.upgrades.map(({ url }) => url)).toEqual(['/ext/bc/C/ws'])
  })

  it('accepts a binary message as an answer', async () => {
    const { url } = await node({
      answer: ({ id }, socket) => socket.send(Buffer.from(`{"id":${id},"result":1}`)),
    })
    expect(await text(transportTo(url))).toBe('{"id":"mine","result":1}')
  })

  it('accepts an error without an id as the answer to the only call in flight', async () => {
    const { url } = await node({
      answer: (_, socket) => socket.send('{"id":null,"error":{"code":-32005}}'),
    })
    expect(await text(transportTo(url))).toBe('{"id":null,"error":{"code":-32005}}')
  })

  it('shares its connection with concurrent calls', async () => {
    const waiting: (() => void)[] = []
    const upstream = await node({
      answer: (request, socket) => void waiting.push(() => echo(request, socket)),
    })
    const transport = transportTo(upstream.url)
    const answers = Array.from({ length: 200 }, (_, at) =>
      text(transport, request(`{"id":${at},"method":"m${at}"}`)),
    )
    while (waiting.length < 200) await new Promise((resolve) => setImmediate(resolve))
    for (const answer of waiting.toReversed()) answer()
    expect(await Promise.all(answers)).toEqual(
      Array.from({ length: 200 }, (_, at) => `{"jsonrpc":"2.0","id":${at},"result":"m${at}"}`),
    )
    expect(upstream.upgrades).toHaveLength(1)
  })

  it('that is aborted does not affect the others', async () => {
    const upstream = await node({
      answer: (request, socket) => void (request.method === 'late' || echo(request, socket)),
    })
    const transport = transportTo(upstream.url)
    const abort = new AbortController()
    const late = faultOf(transport.send(request('{"id":1,"method":"late"}'), abort.signal))
    await text(transport)
    abort.abort()
    expect((await late).fault).toBe('aborted')
    expect(await text(transport)).toContain('eth_chainId')
    expect(upstream.upgrades).toHaveLength(1)
  })
})

describe('a connection', () => {
  it('is pinged, and closed without an answer', async () => {
    const clock = new VirtualClock()
    const upstream = await node({ answer: () => undefined })
    const transport = transportTo(upstream.url, clock)
    const call = faultOf(text(transport))
    while (upstream.received.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const pings: unknown[] = []
    const [socket] = upstream.connections as [WebSocket]
    socket.on('ping', () => pings.push(1))
    await clock.advance(10_000)
    await once(socket, 'ping')
    await new Promise((resolve) => setTimeout(resolve, 20))
    // From here on, it behaves as if its machine had lost its network.
    socket.pause()
    await clock.advance(40_000)
    const fault = await call
    expect(fault).toMatchObject({ fault: 'reset', sent: true })
    expect(pings.length).toBeGreaterThan(0)
  })

  it('without use is closed after a while', async () => {
    const clock = new VirtualClock()
    const upstream = await node()
    await text(transportTo(upstream.url, clock))
    const [socket] = upstream.connections as [WebSocket]
    let closedWith: number | null = null
    const closed = once(socket, 'close').then(([code]: number[]) => (closedWith = code ?? null))
    for (let at = 0; at < 13 && closedWith === null; at++) {
      await clock.advance(10_000)
      // Waits in real time until the ping arrives.
      if (socket.readyState === socket.OPEN) socket.ping()
      await Promise.race([once(socket, 'pong'), closed])
    }
    expect(closedWith).toBe(1000)
  })
})

describe('a fault', () => {
  const fault = async (options: SocketNodeOptions) => {
    const { url } = await node(options)
    return faultOf(text(transportTo(url)))
  }
  const answers: [string, (socket: WebSocket, wire: Duplex) => unknown, string][] = [
    ['a close in place of an answer', (socket) => socket.close(1013), 'reset'],
    ['a reset', (socket) => socket.terminate(), 'reset'],
    ['a message that is not JSON', (socket) => socket.send('<html>'), 'protocol'],
    ['a message that ends early', (socket) => socket.send('{"method":"x"'), 'protocol'],
    [
      'text that is not UTF-8',
      (socket) => socket.send(Buffer.of(0xff), { binary: false }),
      'protocol',
    ],
    [
      'a message over 64 MiB',
      (socket) => socket.send(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20)),
      'too-large',
    ],
    ['bytes without a frame', (_socket, wire) => wire.write(Buffer.alloc(64, 0xff)), 'protocol'],
  ]
  it.each(answers)('%s', async (_name, act, expected) => {
    const error = await fault({ answer: (_, socket, wire) => void act(socket, wire) })
    expect(error).toBeInstanceOf(TransportError)
    expect(error).toMatchObject({ fault: expected, sent: true })
  })

  it.each<[number, string | undefined, string, number | null]>([
    [401, undefined, 'protocol', null],
    [503, undefined, 'protocol', null],
    [200, undefined, 'protocol', null],
    [429, undefined, 'limited', null],
    [429, '90', 'limited', 90_000],
    [503, '7', 'limited', 7_000],
    [503, '3600', 'limited', 30_000],
  ])('HTTP %i in place of an upgrade, Retry-After %s', async (status, retryAfter, expected, ms) => {
    const error = await fault({ status, ...(retryAfter !== undefined && { retryAfter }) })
    expect(error).toMatchObject({ fault: expected, sent: false, retryAfterMs: ms })
    expect(error.message).toBe(`HTTP ${status} instead of a WebSocket`)
  })

  it('an unreachable node', async () => {
    const error = await faultOf(text(transportTo('ws://127.0.0.1:1')))
    expect(error).toMatchObject({ fault: 'refused', sent: false })
  })

  it('a name without an address', async () => {
    const error = await faultOf(text(transportTo('ws://node.invalid')))
    expect(error).toMatchObject({ fault: 'unresolved', sent: false })
  })

  it('a node that accepts the connection and never upgrades it', async () => {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const open = once(server, 'connection') as Promise<[net.Socket]>
    const clock = new VirtualClock()
    const { port } = server.address() as AddressInfo
    const call = faultOf(text(transportTo(`ws://127.0.0.1:${port}`, clock)))
    const [socket] = await open
    cleanups.push(
      () => server.close(),
      () => socket.destroy(),
    )
    await clock.advance(5_000)
    expect(await call).toMatchObject({ fault: 'refused', sent: false })
  })

  it('an excessive answer to one of several', async () => {
    const { url } = await node({
      answer: ({ method }, socket) =>
        void (method === 'big' && socket.send(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20))),
    })
    const transport = transportTo(url)
    const small = faultOf(text(transport))
    const big = faultOf(text(transport, request('{"id":1,"method":"big"}')))
    expect((await small).fault).toBe('reset')
    expect((await big).fault).toBe('reset')
  })

  it('a request without an id, or without a body', async () => {
    const transport = transportTo((await node()).url)
    for (const invalid of [request('{"method":"x"}'), { ...plain, body: null }])
      expect(await faultOf(text(transport, invalid))).toMatchObject({
        fault: 'protocol',
        sent: false,
      })
    expect(await text(transport)).toContain('eth_chainId')
  })
})

describe('TLS', () => {
  let folder: string
  let url: string
  let close: () => PromiseLike<void>
  beforeAll(async () => {
    const authority = await createAuthority('Test Root')
    const { cert, key } = await authority.issue('localhost')
    folder = mkdtempSync(join(tmpdir(), 'socket-tls-'))
    writeFileSync(join(folder, 'ca.pem'), authority.cert)
    const secure = await startSocketNode({ tls: { cert, key } })
    url = secure.url
    close = () => secure[Symbol.asyncDispose]()
    return async () => {
      rmSync(folder, { recursive: true })
      await close()
    }
  })

  it('trusts the authority of the config', async () => {
    const tls = { 'ca-file': join(folder, 'ca.pem') }
    const transport = transportTo(url, undefined, { tls })
    expect(await text(transport)).toContain('eth_chainId')
  })

  it('trusts no other', async () => {
    expect(await faultOf(text(transportTo(url)))).toMatchObject({ fault: 'tls', sent: false })
  })
})

describe('ids', () => {
  const id = fc.oneof(
    fc.integer(),
    fc.string({ unit: 'binary' }),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  const call = fc.record({
    id,
    method: fc.string(),
    params: fc.jsonValue(),
    idFirst: fc.boolean(),
    delay: fc.nat(20),
  })

  it('get the right answers, whatever their ids and the order of answers', async () => {
    const pending: { readonly delay: number; readonly go: () => void }[] = []
    const upstream = await node({
      answer: ({ id: sent, params }, socket) => {
        const { delay, value, idFirst } = params as {
          delay: number
          value: unknown
          idFirst: boolean
        }
        const result = JSON.stringify({ id: 1, echoed: value })
        const answer = idFirst
          ? `{"id":${sent},"result":${result}}`
          : `{"result":${result},"id":${sent}}`
        pending.push({ delay, go: () => socket.send(answer) })
      },
    })
    const transport = transportTo(upstream.url)
    const several = fc.array(call, { minLength: 1, maxLength: 30 })
    const property = fc.asyncProperty(several, async (calls) => {
      const answers = calls.map(async (each) => {
        const { params: value, delay, idFirst } = each
        const sent = {
          jsonrpc: '2.0',
          id: each.id,
          method: each.method,
          params: { delay, value, idFirst },
        }
        return text(transport, request(JSON.stringify(sent)))
      })
      while (pending.length < calls.length) await new Promise((resolve) => setImmediate(resolve))
      for (const { go } of pending.splice(0).toSorted((a, b) => a.delay - b.delay)) go()
      for (const [at, answer] of (await Promise.all(answers)).entries()) {
        const { id: own, params: value, idFirst } = calls[at]!
        const result = JSON.stringify({ id: 1, echoed: value })
        const idText = JSON.stringify(own)
        expect(answer).toBe(
          idFirst ? `{"id":${idText},"result":${result}}` : `{"result":${result},"id":${idText}}`,
        )
      }
    })
    await fc.assert(property, { numRuns: 60 })
  })
})

it('closed gently, finishes a call in flight and accepts no other', async () => {
  const clock = new VirtualClock()
  const socketNode = await node()
  const transport = transportTo(socketNode.url, clock)
  await text(transport)
  const answer = text(transport)
  let isClosed = false
  const closing = transport.close(true).then(() => (isClosed = true))
  expect(JSON.parse(await answer)).toMatchObject({ id: 'mine' })
  expect(isClosed).toBe(false)
  // It closes when idle, like any other.
  for (let each = 0; each < 8; each++) await clock.advance(10_000)
  await closing
  const { fault, sent } = await faultOf(text(transport))
  expect([fault, sent]).toEqual(['aborted', false])
})
