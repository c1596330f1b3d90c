// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startSocketNode } from '../../proxy/upstream/testing/socket-node.ts'
import { serveRouter } from '../served/served-router.ts'

/** A node that would accept subscriptions over the router's call WebSocket. */
const node = () =>
  startSocketNode({
    answer: ({ id, method }, socket) => {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
      if (!/subscribe|watch/i.test(method)) return
      const params = { subscription: '0x1', result: {} }
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: `${method}ion`, params }))
    },
  })

const routerBefore = (url: string) =>
  serveRouter({
    primaries: [{ name: 'a', url }],
    urlSettings: { a: { 'skip-verifications': ['*'] } },
  })

const methods = ['parity_subscribe', 'starknet_subscribeNewHeads', 'debug_unsubscribe']

test('a method with the name of a subscription is refused, and reaches no node', async () => {
  await using upstream = await node()
  await using router = await routerBefore(upstream.url)
  const client = new WebSocket(router.socketUrl)
  await new Promise((resolve) => client.once('open', resolve))
  for (const method of methods) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    const overSocket = new Promise<string>((resolve) =>
      client.once('message', (data: Buffer) => {
        resolve(data.toString())
      }),
    )
    client.send(body)
    const overHttp = await fetch(router.url, { method: 'POST', body })
    for (const answer of [await overHttp.text(), await overSocket])
      expect(JSON.parse(answer)).toMatchObject({
        id: 1,
        error: { code: -32601, message: `${method}: the router has no such subscription` },
      })
  }
  client.terminate()
  expect(upstream.received.filter((text) => text.includes('subscribe'))).toEqual([])
})
