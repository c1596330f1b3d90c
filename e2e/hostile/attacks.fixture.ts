// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { WebSocket } from 'ws'

/*
 * Attacks on a router on loopback, one after another, each for some seconds. They run in a separate
 * process, so that their work does not delay the innocent client:
 *
 *   node attacks.fixture.ts <port of a listener> <seconds> <name>...
 */

const address = `0x${'ab'.repeat(20)}`
const call = `{"jsonrpc":"2.0","id":1,"method":"debug_getBalance","params":["${address}","latest"]}`

type Attack = (port: number, over: AbortSignal) => Promise<unknown>

function head(length: number | null, more = ''): string {
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  return `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${more}${framing}\r\n\r\n`
}

/** A paused connection: nothing reads from it until it is resumed. */
function open(port: number, over: AbortSignal): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  over.addEventListener('abort', () => socket.destroy())
  return socket
}

/** Writes as fast as the router reads. @returns whether the connection is still open */
async function write(socket: Socket, bytes: Uint8Array | string): Promise<boolean> {
  if (socket.destroyed) return false
  if (socket.write(bytes)) return true
  return new Promise((resolve) => {
    socket.once('drain', () => resolve(true)).once('close', () => resolve(false))
  })
}

/** Runs this many connections at a time, replacing each that ends, until time is up. */
function onEach(
  connections: number,
  serve: (socket: Socket, over: AbortSignal) => Promise<unknown>,
): Attack {
  return (port, over) =>
    Promise.all(
      Array.from({ length: connections }, async () => {
        while (!over.aborted) {
          const socket = open(port, over)
          socket.resume()
          await serve(socket, over)
          socket.destroy()
          await sleep(10)
        }
      }),
    )
}

/** Sends these bytes repeatedly, each time on a new connection, and waits for the answer. */
function again(connections: number, bytes: () => Uint8Array | string): Attack {
  return onEach(connections, async (socket, over) => {
    const answered = new Promise((resolve) => {
      socket.once('data', resolve).once('close', resolve)
    })
    await write(socket, bytes())
    await Promise.race([answered, sleep(2_000, null, { signal: over }).catch(() => {})])
  })
}

function post(body: Uint8Array | string, more = ''): Uint8Array {
  return Buffer.concat([Buffer.from(head(body.length, more)), Buffer.from(body)])
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

const mebibyte = 1024 * 1024
const params = (value: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[${value},"latest"]}`

/** Serves this many WebSockets. */
function onSockets(sockets: number, serve: (socket: WebSocket, at: number) => void): Attack {
  return async (port, over) => {
    const all = Array.from({ length: sockets }, (_, at) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}`)
      socket.on('error', () => {}).once('open', () => serve(socket, at))
      return socket
    })
    await sleep(600_000, null, { signal: over }).catch(() => {})
    for (const socket of all) socket.terminate()
  }
}

/** Opens WebSockets without a library, and sends raw bytes. */
function onRawSockets(sockets: number, bytes: Uint8Array, holdMs = 1_000): Attack {
  const upgrade =
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  return onEach(sockets, async (socket, over) => {
    await write(socket, upgrade)
    await write(socket, bytes)
    await sleep(holdMs, null, { signal: over }).catch(() => {})
  })
}

/** Masked WebSocket frames of one byte each, and an empty ping. */
const textFrame = [0x81, 0x81, 0, 0, 0, 0, 0x20]
const firstFragment = [0x01, 0x81, 0, 0, 0, 0, 0x20]
const fragment = [0x00, 0x81, 0, 0, 0, 0, 0x20]
const pingFrame = [0x89, 0x80, 0, 0, 0, 0]

function repeated(bytes: readonly number[], times: number): Buffer {
  return Buffer.alloc(bytes.length * times, Buffer.from(bytes))
}

/** A head of 16 KiB with as many headers as fit. */
const manyHeaders = 'a:\r\n'.repeat(3_900)

/** Topic of token transfers. */
const transfers = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** This many WebSockets with 100 distinct filters each. */
function subscribing(sockets: number, topicsOf: (topic: string) => unknown): Attack {
  return onSockets(sockets, (socket, at) => {
    for (let id = 0; id < 100; id++) {
      const topics = topicsOf(`0x${(at * 100 + id).toString(16).padStart(64, '0')}`)
      const request = { jsonrpc: '2.0', id, method: 'eth_subscribe', params: ['logs', { topics }] }
      socket.send(JSON.stringify(request))
    }
  })
}

export const attacks: Readonly<Record<string, Attack>> = {
  'bodies in chunks of one byte': onEach(4, async (socket) => {
    await write(socket, head(null))
    const chunks = '1\r\n \r\n'.repeat(20_000)
    for (let each = 0; each < 100 && (await write(socket, chunks)); each++);
  }),
  'slow uploads': onEach(1_000, async (socket, over) => {
    await write(socket, head(1_000))
    while (!over.aborted && (await write(socket, ' ')))
      await sleep(1_000, null, { signal: over }).catch(() => {})
  }),
  'heads that never end': onEach(500, async (socket, over) => {
    await write(socket, 'POST / HTTP/1.1\r\nHost: a\r\n')
    while (!over.aborted && (await write(socket, 'X-A: b\r\n')))
      await sleep(200, null, { signal: over }).catch(() => {})
  }),
  'thousands of pipelined calls': onEach(2, async (socket, over) => {
    await write(socket, post(call).toString().repeat(5_000))
    await sleep(1_000, null, { signal: over }).catch(() => {})
  }),
  'bodies of 10 MB': again(
    20,
    once(() => post(params(`{"data":"0x${'00'.repeat(5 * mebibyte - 100)}"}`))),
  ),
  'unfinished bodies of 10 MB': onEach(60, async (socket, over) => {
    await write(socket, head(10 * mebibyte))
    await write(socket, Buffer.alloc(10 * mebibyte - 1, ' '))
    await sleep(5_000, null, { signal: over }).catch(() => {})
  }),
  'a million members': again(
    4,
    once(() =>
      post(params(`{${Array.from({ length: 500_000 }, (_, at) => `"m${at}":${at}`).join()}}`)),
    ),
  ),
  'nested brackets': again(
    8,
    once(() => post(params(`${'['.repeat(2 * mebibyte)}${']'.repeat(2 * mebibyte)}`))),
  ),
  'bodies that inflate to 10 MB': again(
    50,
    once(() => post(gzipSync(`[${'{},'.repeat(3_400_000)}{}]`), 'Content-Encoding: gzip\r\n')),
  ),
  'batches of a thousand': again(
    20,
    once(() => post(`[${Array.from({ length: 1_000 }, () => call).join()}]`)),
  ),
  'batches of a hundred thousand': again(
    8,
    once(() => post(`[${Array.from({ length: 100_000 }, () => call).join()}]`)),
  ),
  'ids of 3 MB': again(
    8,
    once(() => post(call.replace('"id":1', `"id":"${'x'.repeat(3_000_000)}"`))),
  ),
  'heads of 16 KB': again(
    100,
    once(() => post(call, `X-A: ${'a'.repeat(15_000)}\r\n`)),
  ),
  'bodies that never end behind thousands of headers': onEach(1_500, async (socket, over) => {
    await write(socket, head(1_000, manyHeaders))
    await sleep(600_000, null, { signal: over }).catch(() => {})
  }),
  'clients that do not read': (port, over) =>
    Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const socket = open(port, over)
        socket.pause()
        // Half of the requests are identical.
        const request = post(oddly('big', at % 2 && at))
        await write(socket, Buffer.concat(Array.from({ length: 50 }, () => request)))
      }),
    ).then(() => sleep(600_000, null, { signal: over }).catch(() => {})),
  'clients that leave': again(100, () => post(call)),
  'noise instead of HTTP': again(100, () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(500))),
  ),
  'messages that are never finished': onRawSockets(
    200,
    // A masked text frame of 8 MB, without its last byte.
    Buffer.concat([
      Buffer.from([0x01, 0xff, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0]),
      Buffer.alloc(mebibyte),
    ]),
  ),
  'fragments of one byte': onRawSockets(
    8,
    Buffer.concat([Buffer.from(firstFragment), repeated(fragment, 300_000)]),
  ),
  'fragments that are left open': onRawSockets(
    150,
    Buffer.concat([Buffer.from(firstFragment), repeated(fragment, 16_000)]),
    600_000,
  ),
  'a few fragments on many connections': onRawSockets(
    1_000,
    Buffer.concat([Buffer.from(firstFragment), repeated(fragment, 250)]),
    600_000,
  ),
  'messages of one byte': onRawSockets(150, repeated(textFrame, 10_000)),
  'pings without end': onRawSockets(20, repeated(pingFrame, 400_000)),
  'calls on WebSockets that are not read': onSockets(60, (socket, at) => {
    socket.pause()
    for (let each = 0; each < 100; each++) socket.send(oddly('big', each % 2 && at * 100 + each))
  }),
  'thousands of topics': subscribing(50, (topic) => [topic]),
  'thousands of topics that all logs fit': subscribing(100, (topic) => [[transfers, topic]]),
  'thousands of subscribers': onSockets(500, (socket) => {
    for (let id = 0; id < 100; id++)
      socket.send(`{"jsonrpc":"2.0","id":${id},"method":"eth_subscribe","params":["newHeads"]}`)
  }),
  'subscribers that do not read': onSockets(100, (socket) => {
    for (let id = 0; id < 50; id++)
      socket.send(`{"jsonrpc":"2.0","id":${id},"method":"eth_subscribe","params":["logs",{}]}`)
    socket.pause()
  }),
  'answers in chunks of one byte': again(4, () => post(oddly('one-byte-chunks'))),
  'answers that inflate': again(8, () => post(oddly('bomb'))),
  'interim answers without end': again(8, () => post(oddly('interim'))),
}

/** A call that only the odd node answers. In-flight calls with the same number share an attempt. */
function oddly(how: string, number = 0): string {
  return `{"jsonrpc":"2.0","id":1,"method":"debug_traceTransaction","params":["${how}",${number}]}`
}

const grpcHead = {
  ...{ ':method': 'POST', ':path': '/test.Echo/Odd', ':scheme': 'http', ':authority': 'a' },
  ...{ 'content-type': 'application/grpc', te: 'trailers' },
}

/** Runs this many HTTP/2 connections at a time, replacing each that ends, until time is up. */
function onSessions(
  sessions: number,
  serve: (session: ClientHttp2Session, stream: () => ClientHttp2Stream | null) => Promise<unknown>,
): Attack {
  return async (port, over) => {
    const one = async () => {
      while (!over.aborted) {
        const session = connectHttp2(`http://127.0.0.1:${port}`)
        const ended = new Promise((resolve) => session.once('close', resolve))
        session.on('error', () => {})
        const stream = () => {
          if (session.closed || session.destroyed) return null
          return session.request(grpcHead).on('error', () => {})
        }
        const time = sleep(600_000, null, { signal: over }).catch(() => {})
        await Promise.race([serve(session, stream), ended, time])
        session.destroy()
        await sleep(10)
      }
    }
    await Promise.all(Array.from({ length: sessions }, one))
  }
}

/** An HTTP/2 frame. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  bytes.set(payload, 9)
  return bytes
}

const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.alloc(0)),
])
/** The header block of a call: HPACK without Huffman coding. */
const headBlock = Buffer.concat([
  Buffer.from([0x83, 0x86]),
  ...[
    [':path', '/test.Echo/Odd'],
    [':authority', 'a'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ].map(([name = '', value = '']) =>
    Buffer.concat([
      ...[Buffer.from([0, name.length]), Buffer.from(name)],
      ...[Buffer.from([value.length]), Buffer.from(value)],
    ]),
  ),
])

/** Sends raw frames repeatedly on this many connections. */
function frames(connections: number, first: Uint8Array, repeated: Uint8Array): Attack {
  return onEach(connections, async (socket, over) => {
    await write(socket, Buffer.concat([preface, first]))
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => repeated))
    while (!over.aborted && (await write(socket, many))) await sleep(0)
  })
}

const nothing = Buffer.alloc(0)

export const grpcAttacks: Readonly<Record<string, Attack>> = {
  'streams that never end': onSessions(4, async (_, stream) => {
    for (let each = 0; each < 1_100; each++) stream()?.write(Buffer.from([0, 0, 0, 0, 9]))
    await sleep(600_000)
  }),
  'calls that are cancelled at once': onSessions(4, async (_, stream) => {
    for (;;) {
      for (let each = 0; each < 100; each++) stream()?.close(8)
      await sleep(1)
    }
  }),
  'messages of 10 MB that never end': onSessions(30, async (_, stream) => {
    const message = Buffer.alloc(10 * mebibyte)
    message.writeUInt32BE(10 * mebibyte - 6, 1)
    stream()?.write(message.subarray(0, -10))
    await sleep(600_000)
  }),
  'clients of gRPC that do not read': onSessions(8, async (_, stream) => {
    for (let each = 0; each < 100; each++)
      stream()?.end(Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from('big')]))
    await sleep(600_000)
  }),
  'connections that do not read at all': onEach(8, async (socket, over) => {
    socket.pause()
    const call = (at: number) => {
      const stream = 2 * at + 1
      const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from('big')])
      return Buffer.concat([frame(1, 4, stream, headBlock), frame(0, 1, stream, message)])
    }
    const windows = Buffer.from('00047fffffff', 'hex')
    const open = Buffer.concat([
      frame(4, 0, 0, windows),
      frame(8, 0, 0, Buffer.from('7fff0000', 'hex')),
    ])
    await write(
      socket,
      Buffer.concat([preface, open, ...Array.from({ length: 100 }, (_, at) => call(at))]),
    )
    await sleep(600_000, null, { signal: over }).catch(() => {})
  }),
  pings: frames(4, nothing, frame(6, 0, 0, Buffer.alloc(8))),
  settings: frames(4, nothing, frame(4, 0, 0, nothing)),
  'empty frames': frames(4, frame(1, 4, 1, headBlock), frame(0, 0, 1, nothing)),
  'heads that go on and on': frames(
    4,
    frame(1, 0, 1, headBlock),
    frame(9, 0, 1, Buffer.concat([Buffer.from([0, 1, 0x61, 100]), Buffer.alloc(100, 'a')])),
  ),
  'heads of thousands of headers': onEach(10, async (socket, over) => {
    // HPACK indexes one header; thousands of one-byte references repeat it.
    const rest = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0]), Buffer.alloc(16_000, 0xbe)])
    const calls = Array.from({ length: 128 }, (_, at) =>
      frame(1, 4, 2 * at + 1, Buffer.concat([headBlock, rest])),
    )
    await write(socket, Buffer.concat([preface, ...calls]))
    await sleep(600_000, null, { signal: over }).catch(() => {})
  }),
  'streams that never begin': onEach(100, async (socket, over) => {
    const calls = Array.from({ length: 128 }, (_, at) => frame(1, 4, 2 * at + 1, headBlock))
    await write(socket, Buffer.concat([preface, ...calls]))
    await sleep(600_000, null, { signal: over }).catch(() => {})
  }),
  'messages in frames of one byte': frames(
    4,
    Buffer.concat([frame(1, 4, 1, headBlock), frame(0, 0, 1, Buffer.from([0, 0, 0x90, 0, 0]))]),
    frame(0, 0, 1, Buffer.from([0])),
  ),
  'noise instead of HTTP/2': again(100, () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(500))),
  ),
}

if (import.meta.main) {
  const [port, seconds, ...names] = process.argv.slice(2)
  for (const name of names) {
    const attack = attacks[name] ?? grpcAttacks[name]
    if (!attack) throw new Error(`there is no attack "${name}"`)
    const over = AbortSignal.timeout(Number(seconds) * 1_000)
    const ended = sleep(Number(seconds) * 1_000 + 10)
    const done = attack(Number(port), over).catch((error: unknown) => {
      if (!over.aborted) throw error
    })
    await Promise.race([done, ended])
  }
  process.exit(0)
}
