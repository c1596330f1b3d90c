// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EchoClient } from '../grpc/echo-client.ts'
import { EchoServer } from '../grpc/echo-server.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter } from './served-router.ts'

const cached = { 'cache-bytes': '16MiB' }

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const urlSettings = { node: { 'skip-verifications': ['*'] } }
let node: MirrorNode
beforeAll(async () => {
  node = stack.use(
    await new MirrorNode('node', ({ target, body }, response) => {
      const { id = -1 } = body.length > 0 ? (JSON.parse(body.toString()) as { id: number }) : {}
      const transaction = { hash: 'AB'.repeat(32), height: '5', version: '5' }
      const isRest = target.startsWith('/transactions')
      const answer = isRest ? transaction : { jsonrpc: '2.0', id, result: transaction }
      response.writeHead(200, { 'content-type': 'application/json', date: 'now' })
      response.end(JSON.stringify(answer))
    }).start(),
  )
})

/** The cache outcome and the answer of each request. */
async function fetchAll(url: string, bodies: readonly (string | null)[]) {
  const replies: { cache: string | null; type: string | null; text: string }[] = []
  for (const body of bodies) {
    const response = await fetch(url, body === null ? {} : { method: 'POST', body })
    const { headers } = response
    const text = await response.text()
    replies.push({ cache: headers.get('rpc-cache'), type: headers.get('content-type'), text })
  }
  return replies
}

test.each([
  ['rest', 'MOVECHAIN', '/transactions/by_version/5', [null, null]],
  ['tendermintrpc', 'HUBCHAIN', `/tx?hash=0x${'AB'.repeat(32)}`, [null, null]],
  [
    'tendermintrpc',
    'HUBCHAIN',
    '/',
    [1, 2].map((id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tx', params: { hash: 'qw==' } }),
    ),
  ],
] as const)('%s of %s: %s is cached', async (apiInterface, chainId, path, bodies) => {
  await using router = await serveRouter({
    ...{ apiInterface, chainId, primaries: [node], urlSettings },
    settings: cached,
  })
  const [first, second] = await fetchAll(`${router.url}${path}`, bodies)
  expect([first!.cache, second!.cache]).toEqual(['miss', 'hit'])
  expect(second!.type).toBe(first!.type)
  expect(second!.text).toBe(first!.text.replace('"id":1', '"id":2'))
  const [posted] = await fetchAll(`${router.url}/broadcast_tx_sync?tx=0x00`, [null])
  expect(posted!.cache === 'hit').toBe(false)
})

test('a unary gRPC call is cached with its metadata and its status', async () => {
  await using server = await new EchoServer().start()
  await using router = await serveRouter({
    settings: cached,
    chainId: 'ECHO',
    apiInterface: 'grpc',
    specSources: [new URL('../grpc/echo.yml', import.meta.url).pathname],
    primaries: [{ name: 'node', url: `grpc://127.0.0.1:${server.port}` }],
  })
  using client = new EchoClient(router.port)
  const metadata = new Metadata()
  metadata.set('x-echo-trailing', 'bye')
  const [first, second] = [
    await client.run('Unary', ['hi'], metadata),
    await client.run('Unary', ['hi'], metadata),
  ]
  expect(server.calls).toBe(1)
  expect(second.messages).toEqual(first.messages)
  expect([second.code, second.trailing]).toEqual([first.code, first.trailing])
  await client.run('Unary', ['ho'], metadata)
  expect(server.calls).toBe(2)
  for (let each = 0; each < 2; each++) await client.run('Both', ['a', 'b'], metadata)
  expect(server.calls).toBe(4)
})
