// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, status } from '@grpc/grpc-js'
import { constants } from 'node:http2'
import { describe, expect, test } from 'vitest'
import { seenOf } from './echo-client.ts'
import { rawCall, valuesOf } from './raw-call.ts'
import { answerWith, begin, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

const none = new Metadata()
const unary = '/test.Echo/Unary'

const good: Manner = (stream) => {
  answerWith(stream, ['well'])
}

describe('the other node answers a read when one', () => {
  const faults: [string, Manner][] = [
    ['sends only its head', (stream) => begin(stream)],
    ['sends nothing', () => {}],
    [
      'resets after its head',
      (stream) => {
        begin(stream)
        setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
      },
    ],
    [
      'resets in the middle of its message',
      (stream) => {
        begin(stream)
        stream.write(framed('well').subarray(0, 7))
        setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
      },
    ],
    [
      'ends in the middle of its message',
      (stream) => {
        begin(stream)
        stream.end(framed('well').subarray(0, 7))
      },
    ],
    ['refuses the stream', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    ['goes away with an error', (stream) => stream.session?.goaway(11)],
    ['drops the connection', (stream) => stream.session?.destroy()],
    ['ends without a status', (stream) => answerWith(stream, ['lost'], { 'x-a': 'b' })],
    ['is unavailable', (stream) => answerWith(stream, [], { 'grpc-status': '14' })],
    [
      'is unavailable in a trailers-only answer',
      (stream) =>
        stream.respond(
          [':status', '200', 'content-type', 'application/grpc', 'grpc-status', '14'],
          { endStream: true },
        ),
    ],
    [
      'is a proxy with an HTML page',
      (stream) => {
        stream.respond([':status', '503', 'content-type', 'text/html'])
        stream.end('<h1>busy</h1>')
      },
    ],
  ]
  test.each(faults)('%s', async (_, fault) => {
    await using own = await served([fault, good], { 'min-relay-timeout': '500ms' })
    for (let at = 0; at < 2; at++)
      expect(await own.client.run('Unary', ['hi'], none)).toMatchObject({
        code: status.OK,
        messages: ['well'],
      })
    const [bad] = own.nodes
    expect(bad?.calls).toBeGreaterThan(0)
    await expect.poll(() => bad?.open).toBe(0)
    expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0])
  })
})

test('a slow read is hedged, and the slower attempt is cancelled', async () => {
  await using own = await served([() => {}, good])
  const seen = await own.client.run('Unary', ['hi'], none)
  expect(seen).toMatchObject({ code: status.OK, messages: ['well'] })
  await expect.poll(() => own.nodes[0]?.cancelled).toBe(1)
})

test('a client that disconnects during a retry cancels the retry', async () => {
  const unavailable: Manner = (stream) => answerWith(stream, [], { 'grpc-status': '14' })
  await using own = await served([unavailable, () => {}])
  const stream = own.client.open('Unary', none)
  stream.end(Buffer.from('hi'))
  await expect.poll(() => own.nodes[1]?.calls).toBe(1)
  stream.cancel()
  expect(await seenOf(stream)).toMatchObject({ code: status.CANCELLED })
  await expect.poll(() => own.nodes[1]?.cancelled).toBe(1)
  expect(own.nodes[0]?.calls).toBe(1)
  expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0])
})

test.each(['1S', '300m', '300000u', '99999999n'])(
  'the deadline %s of a client',
  async (timeout) => {
    await using own = await served([() => {}])
    const { trailers } = await rawCall(own.router.port, unary, ['grpc-timeout', timeout])
    expect(valuesOf(trailers, 'grpc-status')).toEqual([String(status.DEADLINE_EXCEEDED)])
    await expect.poll(() => own.nodes[0]?.open).toBe(0)
  },
)

test.each(['99999999H', '99999999M', '2147484S', '99999999S'])(
  'the deadline %s, which exceeds the range of timers, equals none',
  async (timeout) => {
    await using own = await served([good])
    const { body, trailers } = await rawCall(own.router.port, unary, ['grpc-timeout', timeout])
    expect(body).toEqual(framed('well'))
    expect(valuesOf(trailers, 'grpc-status')).toEqual(['0'])
  },
)

test('a trailers-only success is an answer without a message', async () => {
  await using own = await served([
    (stream) =>
      stream.respond([':status', '200', 'content-type', 'application/grpc', 'grpc-status', '0'], {
        endStream: true,
      }),
  ])
  const answer = await rawCall(own.router.port, unary)
  expect(answer.body.length).toBe(0)
  expect(answer.trailers).toBe(answer.head)
  expect(valuesOf(answer.head, 'grpc-status')).toEqual(['0'])
})

describe('a stream is no success that ends', () => {
  const cut = framed('three').subarray(0, 7)
  const ends: [string, Manner][] = [
    ['in the middle of a message, with OK', (stream) => stream.end(cut)],
    [
      'without a status',
      (stream) => {
        stream.removeAllListeners('wantTrailers').on('wantTrailers', () => stream.sendTrailers({}))
        stream.end()
      },
    ],
    ['with a reset with NO_ERROR', (stream) => stream.close(constants.NGHTTP2_NO_ERROR)],
    ['with a reset', (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['with its connection', (stream) => stream.session?.destroy()],
  ]
  test.each(ends)('%s', async (_, end) => {
    const seen = Promise.withResolvers<unknown>()
    await using own = await served([
      (stream, headers) => {
        begin(stream)
        stream.write(framed('one'))
        void seen.promise.then(() => end(stream, headers))
      },
    ])
    const stream = own.client.open('Down', none)
    stream.once('data', seen.resolve)
    stream.end(Buffer.from('2'))
    expect(await seenOf(stream)).toMatchObject({ code: status.UNAVAILABLE, messages: ['one'] })
    const [node] = own.router.pool.upstreams
    expect([node!.usedSlots, node!.score.availability(0) < 1]).toEqual([0, true])
  })
})

test('a stream that the node resets delivers its messages and ends as UNAVAILABLE', async () => {
  const seen = Promise.withResolvers<void>()
  await using own = await served([
    (stream) => {
      begin(stream)
      stream.write(framed('one'))
      stream.write(framed('two'))
      void seen.promise.then(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
    },
  ])
  const stream = own.client.open('Down', none)
  stream.on('data', (piece: Buffer) => {
    if (String(piece) === 'two') seen.resolve()
  })
  stream.end(Buffer.from('2'))
  expect(await seenOf(stream)).toMatchObject({ code: status.UNAVAILABLE, messages: ['one', 'two'] })
  expect(own.router.pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0])
})

test('after a GOAWAY open streams finish, and new calls use a new connection', async () => {
  await using own = await served([
    (stream, headers) => {
      if (headers[':path'] === unary) return good(stream, headers)
      begin(stream)
      stream.on('data', (piece: Buffer) => stream.write(piece))
      stream.on('end', () => stream.end())
    },
  ])
  const stream = own.client.open('Both', none)
  const next = () =>
    new Promise<string>((resolve) => stream.once('data', (piece) => resolve(String(piece))))
  stream.write(Buffer.from('a'))
  expect(await next()).toBe('a')
  const [first] = own.nodes[0]!.sessions
  first!.close()
  expect(await own.client.run('Unary', ['hi'], none)).toMatchObject({ messages: ['well'] })
  stream.write(Buffer.from('b'))
  expect(await next()).toBe('b')
  stream.end()
  expect(await seenOf(stream)).toMatchObject({ code: status.OK })
  await expect.poll(() => own.nodes[0]!.sessions.has(first!)).toBe(false)
})

describe('duplicate metadata that HTTP allows only once', () => {
  const twice = ['user-agent', 'a', 'user-agent', 'b', 'etag', '1', 'etag', '2']

  test('from the client reaches the node, and blames no upstream', async () => {
    await using own = await served([
      (stream, headers) => {
        answerWith(stream, [String(headers['x-plain'])])
      },
    ])
    const headers = [...twice, 'x-plain', 'yes']
    for (let at = 0; at < 5; at++) {
      const { body } = await rawCall(own.router.port, unary, headers)
      expect(body).toEqual(framed('yes'))
    }
    expect(own.router.pool.hasEligible).toBe(true)
  })

  test('from the node reaches the client, as head and as trailers', async () => {
    await using own = await served([
      (stream) => {
        stream.on('wantTrailers', () => {
          const trailers: [string, string | string[]][] = [
            ['grpc-status', '0'],
            ['etag', ['3', '4']],
            ['__proto__', 'odd'],
          ]
          stream.sendTrailers(Object.fromEntries(trailers))
        })
        const head = [
          ':status',
          '200',
          'content-type',
          'application/grpc',
          'etag',
          '1',
          'etag',
          '2',
        ]
        stream.respond(head, { waitForTrailers: true })
        stream.end(framed('well'))
      },
    ])
    const answer = await rawCall(own.router.port, unary)
    expect(valuesOf(answer.head, 'etag')).toEqual(['1', '2'])
    expect(valuesOf(answer.trailers, 'etag')).toEqual(['3', '4'])
    expect(valuesOf(answer.trailers, '__proto__')).toEqual(['odd'])
    expect(valuesOf(answer.trailers, 'grpc-status')).toEqual(['0'])
  })
})
