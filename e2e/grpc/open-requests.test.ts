// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, status } from '@grpc/grpc-js'
import type { ClientHttp2Stream } from 'node:http2'
import { expect, test } from 'vitest'
import { type EchoClient, seenOf } from './echo-client.ts'
import { RawHttp2, openCall, reset } from '../../proxy/listener/testing/raw-http2.ts'
import { headOf, rawSession } from './raw-call.ts'
import { answerWith, begin, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

/*
 * An unfinished request takes no slot of an upstream, and the router ends an idle one.
 */

const silent: Manner = (stream) => void stream.resume()
const talking: Manner = (stream) => {
  begin(stream)
  stream.write(framed('hello'))
  stream.resume().on('end', () => stream.end())
}
/** Behaves like `manner`, but answers the calls of another client. */
const orAnswer =
  (manner: Manner): Manner =>
  (stream, headers) => {
    if (headers['x-innocent']) answerWith(stream.resume(), ['well'])
    else manner(stream, headers)
  }

function openWith(client: EchoClient) {
  const stream = client.open('Both', new Metadata())
  stream.write(Buffer.from('hi'))
  return stream
}

/** Opens streams on as many connections as necessary. */
function openStreams(port: number, count: number, perConnection: number) {
  const stack = new DisposableStack()
  const streams: ClientHttp2Stream[] = []
  while (streams.length < count) {
    const session = rawSession(port)
    stack.defer(() => {
      session.destroy()
    })
    for (let at = 0; at < perConnection && streams.length < count; at++) {
      const stream = session.request(headOf('/test.Echo/Both')).on('error', () => {})
      stream.write(framed('hi'))
      streams.push(stream.resume())
    }
  }
  return { streams, [Symbol.dispose]: () => stack.dispose() }
}

test.each([
  ['is silent', silent],
  ['answers', talking],
])('1,100 requests that never end take no session of a node that %s', async (_, manner) => {
  await using own = await served([orAnswer(manner)])
  using open = openStreams(own.router.port, 1_100, 110)
  await expect.poll(() => own.nodes[0]?.open).toBe(1_100)
  const [upstream] = own.router.pool.upstreams
  expect(upstream?.usedSlots).toBe(0)
  const innocent = new Metadata()
  innocent.set('x-innocent', '1')
  for (let at = 0; at < 10; at++)
    expect(await own.client.run('Both', ['hi'], innocent)).toMatchObject({ code: status.OK })
  // Requests take slots when they end, and free them with their answers.
  for (const stream of open.streams) stream.end()
  const taken = manner === silent ? 1_100 : 0
  await expect.poll(() => upstream?.usedSlots).toBe(taken)
  for (const stream of open.streams) stream.destroy()
  await expect.poll(() => upstream?.usedSlots).toBe(0)
})

test.each([
  ['before its answer', silent, 0],
  ['in the middle of its answer', talking, 1],
])('a stream on which nothing moves is ended with a reason, %s', async (_, manner, messages) => {
  await using own = await served([manner], { 'grpc-idle-timeout': '1s' })
  const seen = await seenOf(openWith(own.client))
  expect(seen).toMatchObject({ code: status.DEADLINE_EXCEEDED })
  expect(seen.messages).toHaveLength(messages)
  expect(seen.details).toContain('neither side sent anything for 1 s')
  await expect.poll(() => own.nodes[0]?.cancelled).toBe(1)
  const { pool } = own.router
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible'])
})

test('rapid resets end their connection, and affect no other client and no node', async () => {
  await using own = await served([orAnswer(talking)])
  using greedy = new RawHttp2(own.router.port)
  for (let at = 0; at < 10_000 && !greedy.isClosed; at += 100) {
    const calls = Array.from({ length: 100 }, (_, each) => 2 * (at + each) + 1)
    await greedy.writeAll(...calls.flatMap((id) => [openCall(id), reset(id)]))
  }
  const innocent = new Metadata()
  innocent.set('x-innocent', '1')
  for (let at = 0; at < 10; at++)
    expect(await own.client.run('Both', ['hi'], innocent)).toMatchObject({ code: status.OK })
  await expect.poll(() => greedy.isClosed).toBe(true)
  const { pool } = own.router
  await expect.poll(() => pool.upstreams.map(({ usedSlots }) => usedSlots)).toEqual([0])
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible'])
  await expect.poll(() => own.nodes[0]?.open).toBe(0)
})
