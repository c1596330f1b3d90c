// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants, type ClientHttp2Stream } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { headOf, rawSession } from './raw-call.ts'
import { answerWith, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

/** Complete requests that nodes received: the node and the bytes. */
interface Received {
  readonly whole: [name: string, bytes: number][]
  /** Number of cancelled requests. */
  broken: number
  bytes: number
}

function received(): Received {
  return { whole: [], broken: 0, bytes: 0 }
}

/** Answers with the number of bytes when the request ends. */
function counting(name: string, log: Received, answerMs = 0, status = '0'): Manner {
  return (stream) => {
    let bytes = 0
    stream
      .on('data', (piece: Buffer) => (log.bytes += piece.length) && (bytes += piece.length))
      .on('aborted', () => (log.broken += 1))
      .on('end', () => {
        if (stream.aborted) return
        log.whole.push([name, bytes])
        void sleep(answerMs).then(() => {
          if (stream.destroyed) return
          answerWith(stream, status === '0' ? [String(bytes)] : [], { 'grpc-status': status })
        })
      })
  }
}

/** Sends bytes in pieces with pauses. */
async function sendSlowly(stream: ClientHttp2Stream, bytes: Buffer, gapMs: number) {
  for (let at = 0; at < bytes.length; at += 65_536) {
    stream.write(bytes.subarray(at, at + 65_536))
    await sleep(gapMs)
  }
  stream.end()
}

function outcomeOf(stream: ClientHttp2Stream): Promise<{ status: string; message: string }> {
  let status = ''
  const pieces: Buffer[] = []
  return new Promise((resolve, reject) => {
    stream
      .on('response', (head) => (status = String(head['grpc-status'] ?? '')))
      .on('trailers', (trailers) => (status = String(trailers['grpc-status'])))
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        resolve({ status, message: Buffer.concat(pieces).subarray(5).toString() })
      })
      .on('error', reject)
  })
}

test('no node receives part of a long stream that a slow node answers', async () => {
  const log = received()
  await using own = await served([counting('a', log, 300), counting('b', log)])
  for (let call = 0; call < 30; call++) {
    const session = rawSession(own.router.port)
    const stream = session.request(headOf('/test.Echo/Unary'))
    stream.end(framed('hi'))
    await outcomeOf(stream)
    session.destroy()
  }
  log.whole.length = 0
  const message = Buffer.concat(Array.from({ length: 40 }, () => framed(Buffer.alloc(65_536))))
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Up'))
  const outcome = outcomeOf(stream)
  await sendSlowly(stream, message, 10)
  expect(await outcome).toEqual({ status: '0', message: String(message.length) })
  session.destroy()
  expect(log.whole.map(([, bytes]) => bytes)).toEqual([message.length])
})

test.each([100_000, 1_048_571, 1_048_572, 1_200_000])(
  'every node gets the whole of a write of %i bytes, within the size of a transaction',
  async (size) => {
    const log = received()
    const nodes = [counting('a', log, 0, '14'), counting('b', log), counting('c', log)] as const
    await using own = await served(nodes)
    log.whole.length = 0
    const session = rawSession(own.router.port)
    const stream = session.request(headOf('/test.Echo/Broadcast'))
    const outcome = outcomeOf(stream)
    const message = framed(Buffer.alloc(size))
    await sendSlowly(stream, message, 1)
    expect(await outcome).toEqual({ status: '0', message: String(message.length) })
    await expect.poll(() => log.whole.length).toBe(3)
    expect(log.whole.toSorted(([one], [other]) => one.localeCompare(other))).toEqual(
      ['a', 'b', 'c'].map((name) => [name, message.length]),
    )
    session.destroy()
  },
)

test('a longer write reaches one node whole', async () => {
  const log = received()
  await using own = await served([counting('a', log), counting('b', log)])
  log.whole.length = 0
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Broadcast'))
  const outcome = outcomeOf(stream)
  const message = framed(Buffer.alloc(2_000_000))
  await sendSlowly(stream, message, 1)
  expect(await outcome).toEqual({ status: '0', message: String(message.length) })
  expect(log.whole).toHaveLength(1)
  session.destroy()
})

test.each<[string, (stream: ClientHttp2Stream, leave: AbortController) => void]>([
  ['resets its stream', (_, leave) => leave.abort()],
  ['loses its connection', (stream) => stream.session?.destroy()],
  ['resets its stream with no error', (stream) => stream.destroy()],
])('the request of a client that %s is whole at no node', async (_, leave) => {
  for (const method of ['Up', 'Unary', 'Broadcast']) {
    const log = received()
    await using own = await served([counting('a', log), counting('b', log)])
    log.whole.length = 0
    const session = rawSession(own.router.port)
    session.on('error', () => {})
    const abort = new AbortController()
    const stream = session.request(headOf(`/test.Echo/${method}`), { signal: abort.signal })
    stream.on('error', () => {})
    const before = log.bytes
    stream.write(framed('first'))
    // The router buffers a write until it is complete.
    if (method === 'Broadcast') await sleep(50)
    else await expect.poll(() => log.bytes).toBeGreaterThan(before)
    leave(stream, abort)
    await expect.poll(() => own.nodes.map(({ open }) => open)).toEqual([0, 0])
    await sleep(50)
    expect(log.whole).toEqual([])
    expect(log.broken).toBe(method === 'Broadcast' ? 0 : 1)
    session.destroy()
  }
})

test('an answer before the end of the request closes the stream on both sides', async () => {
  await using own = await served([
    (stream) => {
      answerWith(stream, ['enough'])
    },
  ])
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Up'))
  stream.write(framed('first'))
  expect(await outcomeOf(stream)).toMatchObject({ status: '0', message: 'enough' })
  await expect.poll(() => own.nodes[0]?.open).toBe(0)
  expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0])
  expect([constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL]).toContain(stream.rstCode)
  session.destroy()
})
