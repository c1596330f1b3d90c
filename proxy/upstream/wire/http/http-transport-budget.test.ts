// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { ByteBudget } from '../../../bytes/byte-budget.ts'
import { VirtualClock } from '../../../clock/testing/virtual-clock.ts'
import { nodeUrlConfig } from '../../testing/node-url-config.ts'
import { release, type Incoming } from '../../wire.ts'
import { createHttpTransport } from './http-transport.ts'

const KiB = 1024
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Sends a request to a node that writes this. */
async function ask(budget: ByteBudget, write: (socket: Socket) => void): Promise<Incoming> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => write(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const config = nodeUrlConfig(`http://127.0.0.1:${port}`)
  const transport = createHttpTransport(config, { clock: new VirtualClock(), budget })
  cleanups.push(() => transport.close())
  const { signal } = new AbortController()
  return transport.send({ verb: 'POST', path: '', headers: [], body: Buffer.from('{}') }, signal)
}

async function allOf({ body }: Incoming): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

const plain = (bytes: Buffer) => (socket: Socket) => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`)
  socket.write(bytes)
}

test.each([
  { heldBytes: 0, length: 200 * KiB, isStream: false },
  { heldBytes: 8e5, length: 30 * KiB, isStream: false },
  { heldBytes: 8e5, length: 200 * KiB, isStream: true },
])('with a budget of 1 MB, $heldBytes used: a stream of $length: $isStream', async (row) => {
  const budget = new ByteBudget(1e6)
  budget.hold(row.heldBytes)
  const bytes = Buffer.alloc(row.length, 'abc')
  const incoming = await ask(budget, plain(bytes))
  expect(!(incoming.body instanceof Uint8Array)).toBe(row.isStream)
  expect(bytes.equals(await allOf(incoming))).toBe(true)
  expect(budget.heldBytes).toBe(row.heldBytes)
})

test('collected bytes of a stream count until they are released', async () => {
  const budget = new ByteBudget(1e9)
  const { body } = await ask(budget, plain(Buffer.alloc(3_000 * KiB)))
  expect(budget.heldBytes).toBeGreaterThan(1_000 * KiB)
  release(body)
  expect(budget.heldBytes).toBe(0)
})

test('an answer that breaks off while it is collected no longer counts', async () => {
  const budget = new ByteBudget(1e9)
  const sent = ask(budget, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc', () => socket.end())
  })
  await expect(sent).rejects.toMatchObject({ fault: 'truncated' })
  expect(budget.heldBytes).toBe(0)
})

test('a long answer in one-byte chunks is read in a few pieces for each read of the socket', async () => {
  const length = 1_500_000
  const incoming = await ask(new ByteBudget(1e9), (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    socket.write('1\r\nx\r\n'.repeat(length) + '0\r\n\r\n')
  })
  let pieces = 0
  let bytes = 0
  for await (const piece of incoming.body as AsyncIterable<Uint8Array>) {
    pieces += 1
    bytes += piece.length
  }
  expect(bytes).toBe(length)
  expect(pieces).toBeLessThan(1_000)
})
