// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { constants } from 'node:http2'
import { expect, test } from 'vitest'
import { GrpcFrames } from '../../proxy/listener/grpc/grpc-messages.ts'
import { headOf, rawCall, rawSession, valuesOf } from './raw-call.ts'
import { answerWith, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

/*
 * A client's bad calls never count against a node. Both upstreams remain eligible after more such
 * calls than the failure threshold.
 */

const unary = '/test.Echo/Unary'
const times = 12

/** Validates requests as common servers do. */
const strict: Manner = (stream, headers) => {
  const frames = new GrpcFrames()
  stream.on('data', (piece: Buffer) => {
    frames.push(piece)
  })
  stream.on('end', () => {
    const fails = (code: string, message: string) => {
      answerWith(stream, [], { 'grpc-status': code, 'grpc-message': message })
    }
    if (headers['grpc-timeout'] !== undefined) fails('4', 'context deadline exceeded')
    else if (!frames.isWhole) fails('13', 'unexpected EOF')
    else if (frames.count === 0) fails('2', 'EOF')
    else answerWith(stream, ['well'])
  })
}

function answering(code: number, message: string): Manner {
  return (stream) => {
    answerWith(stream, [], { 'grpc-status': String(code), 'grpc-message': message })
  }
}

function page(status: number): Manner {
  return (stream) => {
    stream.respond([':status', String(status), 'content-type', 'text/html'])
    stream.end('<h1>no</h1>')
  }
}

const message = framed('hi')
const none = Buffer.alloc(0)
const resetting: Manner = (stream) => {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}

const manyEntries = Array.from({ length: 200 }, (_, at) => [`x-${at}`, '1']).flat()

const tooLarge: [server: string, code: number, words: string][] = [
  ['grpc-go', 8, 'grpc: received message larger than max (5242885 vs. 4194304)'],
  ['grpc-js', 8, 'Received message larger than max (5000000 vs 4194304)'],
  ['gRPC C-core', 8, 'SERVER: Received message larger than max (5000000 vs. 4194304)'],
  ['grpc-java', 8, 'gRPC message exceeds maximum size 4194304: 5000000'],
  ['grpc-dotnet', 8, 'Received message exceeds the maximum configured message size.'],
  ['tonic', 11, 'Error, decoded message length too large: found 5 bytes, the limit is: 4 bytes'],
]
type Row = [string, string[], Buffer, Manner, status: number | null]
const rows: Row[] = [
  ['no message', [], none, strict, 2],
  ['half of a prefix', [], message.subarray(0, 3), strict, 13],
  ['half of a message', [], message.subarray(0, 6), strict, 13],
  ['a message and a half', [], Buffer.concat([message, message.subarray(0, 6)]), strict, 13],
  ['two deadlines', ['grpc-timeout', '1S', 'grpc-timeout', '1n'], message, strict, 13],
  ['an invalid deadline', ['grpc-timeout', 'soon'], message, strict, 13],
  ['a short deadline', ['grpc-timeout', '300m'], message, strict, 4],
  ['much metadata', ['x-a', 'a'.repeat(20_000)], message, strict, 8],
  [
    'bytes that are not a message of the method',
    [],
    message,
    answering(13, 'grpc: error unmarshalling request: unexpected EOF'),
    13,
  ],
  ['metadata that makes a node reset the stream', manyEntries, message, resetting, 14],
  ...tooLarge.map(([server, code, words]): Row => {
    return [`a message that ${server} finds too large`, [], message, answering(code, words), code]
  }),
  ['a method that the node does not serve', [], message, answering(12, 'unknown method'), 12],
  ['a method that a gateway does not serve', [], message, page(404), null],
  ['a call that a gateway rejects', [], message, page(400), null],
]
test.each(rows)('%s', async (_name, headers, body, manner, status) => {
  await using own = await served([manner, manner])
  for (let at = 0; at < times; at++) {
    const { trailers } = await rawCall(own.router.port, unary, headers, body)
    if (status !== null) expect(valuesOf(trailers, 'grpc-status')).toEqual([String(status)])
  }
  const { pool } = own.router
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible', 'eligible'])
  expect(pool.upstreams.flatMap(({ urls }) => urls.map(({ cooldown }) => cooldown.leftMs))).toEqual(
    [0, 0],
  )
  expect(pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0, 0])
})

test('a stream that ends in the middle of a message is cancelled at the node', async () => {
  await using own = await served([(stream) => void stream.resume()])
  const session = rawSession(own.router.port)
  const stream = session.request(headOf('/test.Echo/Both'))
  const ended = new Promise((resolve) => stream.on('response', (...[, , raw]) => resolve(raw)))
  stream.write(message)
  await expect.poll(() => own.nodes[0]?.open).toBe(1)
  stream.end(message.subarray(0, 6))
  expect(valuesOf((await ended) as string[], 'grpc-status')).toEqual(['13'])
  await expect.poll(() => own.nodes[0]?.cancelled).toBe(1)
  expect(own.router.pool.hasEligible).toBe(true)
  session.destroy()
})

test.each(['/', '/Unary', '//', '/test.Echo/', '//Unary', '/Unary?name=1'])(
  'the path %s without a method is an error, and reaches no node',
  async (path) => {
    const requests: unknown[] = []
    const manner: Manner = (stream, headers) => {
      requests.push(headers[':path'])
      strict(stream, headers)
    }
    await using own = await served([manner])
    const { trailers } = await rawCall(own.router.port, path)
    expect(valuesOf(trailers, 'grpc-status')).toEqual(['12'])
    expect(valuesOf(trailers, 'grpc-message')).toEqual([
      `method-not-found: the path ${path} is not of the form /package.Service/Method`,
    ])
    expect(requests).not.toContain(path)
  },
)

test.each([
  ['/../test.Echo/Unary', /^unsendable: dot segments/],
  ['/%2e%2e/admin/Unary', /^unsendable: dot segments/],
  ['/a/../..%2fUnary', /^unsendable: dot segments/],
  ['/test.Echo/Unary#a', /^unsendable: .*has no fragment/],
])('the path %s, which may leave the paths of a node, reaches none', async (path, reason) => {
  const requests: unknown[] = []
  await using own = await served([
    (stream, headers) => {
      requests.push(headers[':path'])
      strict(stream, headers)
    },
  ])
  const { trailers } = await rawCall(own.router.port, path)
  expect(valuesOf(trailers, 'grpc-status')).toEqual(['3'])
  expect(valuesOf(trailers, 'grpc-message')[0]).toMatch(reason)
  expect(requests).not.toContain(path)
})

test('a path without a slash violates HTTP/2, but the connection remains open', async () => {
  await using own = await served([strict])
  const session = rawSession(own.router.port)
  const stream = session.request(headOf(unary.slice(1)))
  const failed = new Promise((resolve) => stream.on('error', resolve))
  stream.end(message)
  expect(await failed).toMatchObject({ message: expect.stringContaining('PROTOCOL_ERROR') })
  const next = session.request(headOf(unary))
  const status = new Promise((resolve) => next.on('response', (all) => resolve(all[':status'])))
  next.resume().end(message)
  expect(await status).toBe(200)
  session.destroy()
})

test.each([
  ['application/grpc', 200],
  ['application/grpc+proto', 200],
  ['application/grpc;charset=utf-8', 200],
  ['application/grpc-web', 415],
  ['application/grpc-web+proto', 415],
  ['application/grpcx', 415],
  ['application/json', 415],
])('the content type %s is answered with HTTP %i', async (type, expected) => {
  await using own = await served([strict])
  const session = rawSession(own.router.port)
  const head = headOf(unary).map((part) => (part === 'application/grpc' ? type : part))
  const stream = session.request(head)
  const status = new Promise((resolve) => stream.on('response', (all) => resolve(all[':status'])))
  stream.resume().end(message)
  expect(await status).toBe(expected)
  session.destroy()
})

test('GET /health shows a load balancer whether the listener can serve', async () => {
  await using own = await served([strict])
  const session = rawSession(own.router.port)
  const stream = session.request({ ':method': 'GET', ':path': '/health' })
  let text = ''
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const head = await new Promise((resolve) => stream.on('response', resolve))
  await new Promise((resolve) => stream.on('end', resolve))
  expect(head).toMatchObject({ ':status': 200, 'content-type': 'text/plain' })
  expect(text).toBe('Health status OK')
  session.destroy()
})
