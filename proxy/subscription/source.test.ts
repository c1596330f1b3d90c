// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { TransportError, type UpstreamSubscription } from '../upstream/wire.ts'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { SharedSource } from './source.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

test('a subscription lost before the first listener is lost for all that share it', async () => {
  const { pool, clock, sockets } = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: () => undefined,
    sockets: ['one'],
  })
  const socket = sockets['one'] as TestSocket
  const subscription: UpstreamSubscription = {
    reply: {
      status: 200,
      headers: [],
      body: Buffer.from('{"jsonrpc":"2.0","id":1,"result":"0x1"}'),
      trailers: () => [],
    },
    listen: ({ lost }) => {
      lost(new TransportError('reset', 'cut'))
    },
    close() {},
  }
  socket.subscribe = () => Promise.resolve(subscription)
  const changes: number[] = []
  const observer = { upstreamChanged: (_: string, change: number) => changes.push(change) }
  const [upstream] = pool.upstreams
  const { request } = ethereumFamily(() => Promise.reject(new Error('no call expected'))).readers[
    'newHeads'
  ]!
  const source = new SharedSource(request, {
    upstream: upstream!,
    url: upstream!.sockets[0]!,
    failures: {} as never,
    observer,
    observe() {},
    ended() {},
  })
  const { signal } = new AbortController()
  const shared = [source.join(signal), source.join(signal)]
  const lost: string[] = []
  for (const member of await Promise.all(shared))
    member.listen({ event() {}, lost: (why) => lost.push(why) })
  expect(lost).toEqual(['reset: cut', 'reset: it was lost at once'])
  expect([changes, clock.pending]).toEqual([[1, -1], 0])
})
