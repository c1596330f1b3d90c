// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Http2Stream } from 'node:http2'
import { expect, test } from 'vitest'
import { headOf, rawCall, rawSession } from './raw-call.ts'
import { begin, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

const mebibyte = 1024 * 1024
const piece = framed(Buffer.alloc(64 * 1024))

/** Writes as fast as its streams accept, up to a total number of bytes. */
class Flood {
  readonly #maxBytes: number
  writtenBytes = 0
  #before = 0

  constructor(maxBytes = 100 * mebibyte) {
    this.#maxBytes = maxBytes
  }

  write(stream: Http2Stream): void {
    const more = () => {
      while (!stream.destroyed && this.writtenBytes < this.#maxBytes) {
        this.writtenBytes += piece.length
        if (!stream.write(piece)) return void stream.once('drain', more)
      }
    }
    more()
  }

  /** Returns true if the streams accepted nothing since the last call. */
  readonly stands = (): boolean => {
    const isStill = this.#before === this.writtenBytes && this.writtenBytes > 0
    this.#before = this.writtenBytes
    return isStill
  }
}

test('a client that does not read blocks the node, and its disconnect frees all memory', async () => {
  const flood = new Flood()
  const endless: Manner = (stream) => {
    begin(stream)
    flood.write(stream)
  }
  await using own = await served([endless])
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Down'))
  stream.end(framed('many'))
  await expect.poll(flood.stands, { interval: 300 }).toBe(true)
  // Covers the windows of both hops and the buffers between them.
  expect(flood.writtenBytes).toBeLessThan(8 * mebibyte)
  session.destroy()
  await expect.poll(() => own.nodes[0]?.open).toBe(0)
  expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0])
})

test('a node that does not read blocks the client, whose disconnect frees all memory', async () => {
  await using own = await served([
    (stream) => {
      begin(stream)
      stream.pause()
    },
  ])
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Up'))
  const flood = new Flood()
  flood.write(stream)
  await expect.poll(flood.stands, { interval: 300 }).toBe(true)
  expect(flood.writtenBytes).toBeLessThan(8 * mebibyte)
  stream.on('error', () => {})
  session.destroy()
  await expect.poll(() => own.nodes[0]?.open).toBe(0)
  expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0])
})

test('clients that do not read delay no other client', async () => {
  const flood = new Flood(Infinity)
  const node: Manner = (stream, headers) => {
    begin(stream)
    if (headers[':path'] !== '/test.Echo/Down') return stream.end(framed('hello'))
    flood.write(stream)
  }
  await using own = await served([node])
  const session = rawSession(own.router.port)
  for (let each = 0; each < 100; each++)
    session
      .request(headOf('/test.Echo/Down'))
      .on('error', () => {})
      .end(framed('much'))
  await expect.poll(flood.stands, { interval: 500 }).toBe(true)
  const { body } = await rawCall(own.router.port, '/test.Echo/Unary')
  expect(body).toEqual(framed('hello'))
  session.destroy()
})
