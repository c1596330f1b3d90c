// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, status } from '@grpc/grpc-js'
import type { ServerHttp2Stream } from 'node:http2'
import { expect, test } from 'vitest'
import { answerWith, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

const none = new Metadata()

/** Reads only its first request until there are `count`, then answers them all. */
function unreadUntil(count: number): Manner {
  const waiting: ServerHttp2Stream[] = []
  let isFirst = true
  return (stream) => {
    if (!isFirst) waiting.push(stream)
    else answerWith(stream.resume(), ['well'])
    isFirst = false
    if (waiting.length < count) return
    for (const each of waiting) answerWith(each.resume(), ['well'])
  }
}

test.each([
  [1_000, 30_000],
  [500, 200_000],
])(
  '%i requests of %i bytes that wait for their node all get answers, without blame',
  async (count, bytes) => {
    await using own = await served([unreadUntil(count)], {
      'max-calls-per-connection': count,
      // A tenth of the slots is reserved for calls that are alone on their connection.
      'max-sessions-per-provider': 2 * count,
    })
    // This call opens a connection, and so the router knows the node's limit.
    await own.client.run('Both', ['hi'], none)
    const message = Buffer.alloc(bytes, 7)
    const codes = await Promise.all(
      Array.from(
        { length: count },
        async () => (await own.client.run('Both', [message], none)).code,
      ),
    )
    expect([...new Set(codes)]).toEqual([status.OK])
    expect(own.nodes[0]?.calls).toBe(count + 1)
    const { pool } = own.router
    expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible'])
  },
)
