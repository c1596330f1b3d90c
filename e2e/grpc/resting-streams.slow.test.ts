// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, status } from '@grpc/grpc-js'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type EchoClient, seenOf, type Seen } from './echo-client.ts'
import { EchoServer } from './echo-server.ts'
import { answerWith, type Manner } from './raw-node.ts'
import { behindRouter, served } from './served-nodes.ts'

/*
 * A stream may be idle for longer than any attempt and the relay budget, even before its first
 * message. Many servers send their head only with that message.
 */

const settings = { 'min-relay-timeout': '200ms', 'default-processing-timeout': '600ms' }
const restMs = 1_500
const none = new Metadata()

async function pair() {
  const stack = new AsyncDisposableStack()
  const nodes = [
    stack.use(await new EchoServer().start()),
    stack.use(await new EchoServer().start()),
  ]
  return behindRouter(stack, nodes, settings)
}

const times = 12
const rows: [string, (client: EchoClient, deadline: number) => Promise<Seen>, string[]][] = [
  [
    'a server stream with a late first message',
    (client, deadline) => client.run('Late', [`${restMs}`], none, { deadline }),
    ['late'],
  ],
  [
    'a long client stream',
    async (client, deadline) => {
      const stream = client.open('Up', none, { deadline })
      for (let at = 0; at < 3; at++) {
        stream.write(Buffer.from('abc'))
        await sleep(restMs / 3)
      }
      stream.end()
      return seenOf(stream)
    },
    ['9'],
  ],
  [
    'a bidirectional stream with a late first message',
    async (client, deadline) => {
      const stream = client.open('Both', none, { deadline })
      await sleep(restMs)
      stream.write(Buffer.from('hi'))
      stream.end()
      return seenOf(stream)
    },
    ['hi'],
  ],
  [
    'a bidirectional stream of a method in the spec',
    async (client, deadline) => {
      const stream = client.open('Reflect', none, { deadline })
      await sleep(restMs)
      stream.write(Buffer.from('hi'))
      stream.end()
      return seenOf(stream)
    },
    ['hi'],
  ],
  [
    'two messages to a method in the spec with a late answer',
    (client, deadline) => client.run('LateSum', [`${restMs}`, '0'], none, { deadline }),
    [`${restMs}`],
  ],
]
test.each(
  rows.flatMap((row) => [Infinity, 30_000].map((deadlineMs) => [...row, deadlineMs] as const)),
)(
  '%s is one stream at one node, without blame for an upstream (%#)',
  async (_, run, messages, deadlineMs) => {
    await using own = await pair()
    const deadline = Date.now() + deadlineMs
    const seen = await Promise.all(Array.from({ length: times }, () => run(own.client, deadline)))
    for (const each of seen) expect(each).toMatchObject({ code: status.OK, messages })
    expect(own.nodes.reduce((sum, { calls }) => sum + calls, 0)).toBe(times)
    const { pool } = own.router
    expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible', 'eligible'])
  },
)

test('a deadline ends idle streams without blame for an upstream', async () => {
  await using own = await pair()
  const deadline = Date.now() + 1_000
  const seen = await Promise.all(
    Array.from({ length: times }, () => own.client.run('Late', ['20000'], none, { deadline })),
  )
  for (const each of seen) expect(each.code).toBe(status.DEADLINE_EXCEEDED)
  expect(own.nodes.reduce((sum, { calls }) => sum + calls, 0)).toBe(times)
  const { pool } = own.router
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible', 'eligible'])
})

test('the budget and the retries of a read start at its late message', async () => {
  const silent: Manner = (stream) => void stream.resume()
  const good: Manner = (stream) => answerWith(stream.resume(), ['well'])
  await using own = await served(
    [silent, good],
    { 'default-processing-timeout': '1400ms' },
    { chainId: 'ECHO', urlSettings: { 'node-0': { timeout: '200ms' } } },
  )
  const stream = own.client.open('Unary', none)
  await sleep(restMs)
  stream.end(Buffer.from('hi'))
  expect(await seenOf(stream)).toMatchObject({ code: status.OK, messages: ['well'] })
})
