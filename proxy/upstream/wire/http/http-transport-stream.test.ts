// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import net, { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { ByteBudget } from '../../../bytes/byte-budget.ts'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { countStreamedBytes } from '../../testing/streamed-bytes.ts'
import { createHttpTransport } from './http-transport.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import type { BodyStream, Incoming, Outgoing, TransportError } from '../../wire.ts'

const mebibyte = 1024 * 1024
const request: Outgoing = { verb: 'POST', path: '', headers: [], body: Buffer.from('{}') }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Random bytes, which gzip cannot compress. */
function bytesOf(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = 1
  for (let at = 0; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    bytes.writeInt32LE(state, at)
  }
  return bytes
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A node that handles each connection as the test says, once a request has arrived. */
async function serve(answer: (socket: net.Socket) => void) {
  const sockets: net.Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const clock = new VirtualClock()
  const streamed = countStreamedBytes()
  cleanups.push(streamed.stop)
  const { port } = server.address() as AddressInfo
  const transport = createHttpTransport(nodeUrlConfig(`http://127.0.0.1:${port}`), {
    budget: new ByteBudget(1e9),
    clock,
  })
  cleanups.push(() => transport.close())
  return { transport, clock, sockets, streamedBytes: streamed.count }
}

function closeOf(socket: net.Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}

const plainHead = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`
const signal = new AbortController().signal

async function streamOf(sent: Promise<Incoming>): Promise<BodyStream> {
  const { body } = await sent
  expect(body).not.toBeInstanceOf(Uint8Array)
  return body as BodyStream
}

async function readAll(stream: BodyStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function faultOfReading(stream: BodyStream): Promise<TransportError> {
  return readAll(stream).then(
    () => expect.fail('the stream ended as if it were whole'),
    (error: TransportError) => error,
  )
}

describe('an answer', () => {
  it('of 1 MiB arrives as a whole', async () => {
    const bytes = bytesOf(mebibyte)
    const { transport } = await serve((socket) => {
      socket.write(plainHead(bytes.length))
      socket.write(bytes)
    })
    const { body } = await transport.send(request, signal)
    expect(body instanceof Uint8Array && bytes.equals(body)).toBe(true)
  })

  it.each([
    ['of declared length', plainHead(5 * mebibyte), (bytes: Buffer) => bytes, 5 * mebibyte],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      (bytes: Buffer) =>
        Buffer.concat([
          Buffer.from(`${bytes.length.toString(16)}\r\n`),
          bytes,
          Buffer.from('\r\n0\r\n\r\n'),
        ]),
      null,
    ],
    [
      'until the connection ends',
      'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n',
      (bytes: Buffer) => bytes,
      null,
    ],
    [
      'in gzip',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n',
      (bytes: Buffer) => gzipSync(bytes),
      null,
    ],
    [
      'in gzip with trailing bytes',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n',
      (bytes: Buffer) => Buffer.concat([gzipSync(bytes), Buffer.alloc(mebibyte)]),
      null,
    ],
  ] as const)('of more, %s, is a stream of the same bytes', async (_, head, encode, length) => {
    const bytes = bytesOf(5 * mebibyte)
    const { transport, clock } = await serve((socket) => {
      socket.write(head)
      socket.write(encode(bytes))
      if (length === null) socket.end()
    })
    const stream = await streamOf(transport.send(request, signal))
    const headBytes = Buffer.concat(stream.head)
    expect(headBytes.length).toBeGreaterThan(mebibyte)
    expect(headBytes.equals(bytes.subarray(0, headBytes.length))).toBe(true)
    expect(stream.length).toBe(length)
    expect(hashOf(await readAll(stream))).toBe(hashOf(bytes))
    expect(clock.pending).toBe(0)
  })

  it('that streamed leaves its connection for the next', async () => {
    const bytes = bytesOf(2 * mebibyte)
    const { transport, sockets } = await serve((socket) => {
      socket.write(plainHead(bytes.length))
      socket.write(bytes)
    })
    for (let each = 0; each < 3; each++) {
      await readAll(await streamOf(transport.send(request, signal)))
      await new Promise(setImmediate)
    }
    expect(sockets).toHaveLength(1)
  })
})

test.each([
  ['as it is', plainHead(64 * mebibyte), (bytes: Buffer) => bytes],
  [
    'in gzip',
    'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n',
    // Level 0 keeps the length, since nothing is compressed.
    (bytes: Buffer) => gzipSync(bytes, { level: 0 }),
  ],
] as const)(
  'a slow reader creates back-pressure: the rest stays with the node, %s',
  async (_, head, encode) => {
    const total = 64 * mebibyte
    const sent = encode(Buffer.alloc(total))
    const { transport, sockets, streamedBytes } = await serve((socket) => {
      socket.write(head)
      socket.end(sent)
    })
    const stream = await streamOf(transport.send(request, signal))
    const reader = stream[Symbol.asyncIterator]()
    await reader.next()
    // Enough turns of the event loop for all bytes in flight to arrive.
    for (let turn = 0; turn < 4_000; turn++) await new Promise(setImmediate)
    expect(streamedBytes()).toBeLessThan(mebibyte)
    expect(sockets[0]!.writableLength).toBeGreaterThan(0)
    let read = 0
    for await (const chunk of stream) read += chunk.length
    expect(read).toBeGreaterThan(total - 2 * mebibyte)
    expect(streamedBytes()).toBeGreaterThan(total - 2 * mebibyte)
  },
)

describe('a stream fails', () => {
  const half = bytesOf(3 * mebibyte)
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const gzipHead = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n'
  const zipped = gzipSync(half)
  const spoiled = Buffer.from(zipped)
  spoiled.fill(0xff, 2 * mebibyte)
  it.each([
    ['closed before its declared length', plainHead(9 * mebibyte), half],
    [
      'closed between two chunks',
      chunked,
      Buffer.concat([Buffer.from(`${half.length.toString(16)}\r\n`), half, Buffer.from('\r\n')]),
    ],
    ['closed in the middle of its gzip', gzipHead, zipped.subarray(0, 2 * mebibyte)],
    ['with corrupt gzip', gzipHead, spoiled],
  ] as const)('when it is %s', async (_, head, bytes) => {
    const { transport, clock } = await serve((socket) => {
      socket.write(head)
      socket.end(bytes)
    })
    const stream = await streamOf(transport.send(request, signal))
    expect(await faultOfReading(stream)).toMatchObject({ fault: 'truncated', sent: true })
    expect(clock.pending).toBe(0)
  })

  it('when it is reset', async () => {
    const { transport, clock, sockets } = await serve((socket) => {
      socket.write(plainHead(9 * mebibyte))
      socket.write(half)
    })
    const reader = await readHalf(await streamOf(transport.send(request, signal)))
    const next = reader.next()
    sockets[0]!.resetAndDestroy()
    await expect(next).rejects.toMatchObject({ name: 'TransportError', fault: 'truncated' })
    expect(clock.pending).toBe(0)
  })

  async function readHalf(stream: BodyStream): Promise<AsyncIterator<Uint8Array>> {
    const reader = stream[Symbol.asyncIterator]()
    for (let read = 0; read < half.length;)
      read += ((await reader.next()) as IteratorYieldResult<Uint8Array>).value.length
    return reader
  }

  it('when no byte arrives for 30 s while its reader waits', async () => {
    const { transport, clock, sockets } = await serve((socket) => {
      socket.write(plainHead(9 * mebibyte))
      socket.write(half)
    })
    const reader = await readHalf(await streamOf(transport.send(request, signal)))
    // No reader is waiting.
    await clock.advance(60_000)
    const next = reader.next().catch((error: TransportError) => error)
    const closed = closeOf(sockets[0]!)
    await clock.advance(29_999)
    expect(sockets[0]!.destroyed).toBe(false)
    await clock.advance(1)
    expect(await next).toMatchObject({ fault: 'timeout' })
    await closed
  })

  it('when it is aborted, and frees its connection', async () => {
    const { transport, sockets } = await serve((socket) => {
      socket.write(plainHead(9 * mebibyte))
      socket.write(half)
    })
    const abort = new AbortController()
    const stream = await streamOf(transport.send(request, abort.signal))
    const closed = closeOf(sockets[0]!)
    const reading = faultOfReading(stream)
    abort.abort()
    expect((await reading).fault).toBe('aborted')
    await closed
  })
})

test('an abandoned stream frees its connection', async () => {
  const { transport, clock, sockets } = await serve((socket) => {
    socket.write(plainHead(9 * mebibyte))
    socket.write(bytesOf(2 * mebibyte))
  })
  const stream = await streamOf(transport.send(request, signal))
  const closed = closeOf(sockets[0]!)
  for await (const chunk of stream) {
    expect(chunk.length).toBeGreaterThan(0)
    break
  }
  await closed
  expect(await stream[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
  expect(clock.pending).toBe(0)
})
