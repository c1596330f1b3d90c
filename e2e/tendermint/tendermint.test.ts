// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { request as send } from 'undici'
import { expect, test } from 'vitest'
import { RawClient } from '../../proxy/listener/testing/listener-fixture.ts'
import { MirrorNode, type ReceivedRequest } from '../rest/mirror-node.ts'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'

/** A node that knows `status`, `block` and transactions, in both styles. */
function answer({ verb, target, body }: ReceivedRequest, response: ServerResponse): void {
  const isUri = verb === 'GET' || verb === 'HEAD'
  const requests = isUri
    ? { id: -1, method: new URL(target, 'http://x').pathname.slice(1) }
    : (JSON.parse(body.toString()) as Question | Question[])
  const reply = Array.isArray(requests) ? requests.map(replyTo) : replyTo(requests)
  response.writeHead('error' in reply && isUri ? 500 : 200, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(reply)}\n`)
}

interface Question {
  readonly id: number
  readonly method: string
}

function replyTo({ id, method }: Question) {
  const known = {
    status: { sync_info: { latest_block_height: '7' } },
    block: {
      block_id: { hash: 'B10C'.repeat(16) },
      block: { header: { chain_id: 'cosmoshub-4', height: '5' }, data: { txs: [] } },
    },
  }
  const result = method.startsWith('broadcast') ? { code: 0 } : known[method as 'status']
  const error = { code: -32603, message: 'Internal error', data: 'height must be greater than 0' }
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error }) }
}

async function served(count: number) {
  const stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (let at = 0; at < count; at++)
    nodes.push(stack.use(await new MirrorNode(`node-${at}`, answer).start()))
  const urlSettings = Object.fromEntries(
    nodes.map(({ name }) => [name, { 'skip-verifications': ['*'] }]),
  )
  const router: ServedRouter = stack.use(
    await serveRouter({
      chainId: 'HUBCHAIN',
      apiInterface: 'tendermintrpc',
      primaries: nodes,
      urlSettings,
      settings: { 'skip-websocket-verification': true },
    }),
  )
  for (const node of nodes) node.requests.length = 0
  return { nodes, router, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function ask(url: string, options: { method?: string; body?: string } = {}) {
  const { statusCode, headers, body } = await send(url, options as object)
  return { status: statusCode, type: headers['content-type'], body: await body.text() }
}

const targets = ['/status', '/status?', '/block?height=5', '/block?height=%225%22', '/none?x']

test.each(targets)('URI style: the answer to GET %s equals that of the node', async (target) => {
  await using own = await served(1)
  const [node] = own.nodes
  const routed = await ask(own.router.url + target)
  expect(node!.requests.at(-1)!.target).toBe(target === '/status?' ? '/status' : target)
  expect(routed).toEqual(await ask(node!.url + target))
})

test.each(['//', '/%2F'])('GET %s does not reach the node', async (target) => {
  await using own = await served(1)
  using client = new RawClient(own.router.port)
  client.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 404 /)
  expect(own.nodes[0]!.requests).toEqual([])
})

test.each(['GET', 'HEAD'])(
  '%s / does not reach the node, whose page would show its address',
  async (method) => {
    await using own = await served(1)
    const { status, body } = await ask(own.router.url, { method })
    expect(status).toBe(404)
    if (method === 'GET')
      expect(JSON.parse(body)).toMatchObject({ error: { data: { reason: 'no-such-path' } } })
    expect(own.nodes[0]!.requests).toEqual([])
  },
)

test('JSON-RPC over POST, single and in a batch', async () => {
  await using own = await served(1)
  const call = (id: number, method: string) => JSON.stringify({ jsonrpc: '2.0', id, method })
  const single = await ask(own.router.url, { method: 'POST', body: call(5, 'status') })
  expect(JSON.parse(single.body)).toMatchObject({ id: 5, result: { sync_info: {} } })
  const body = `[${call(1, 'status')},${call(2, 'block')}]`
  const batch = await ask(own.router.url, { method: 'POST', body })
  expect(JSON.parse(batch.body)).toMatchObject([{ id: 1 }, { id: 2, result: { block: {} } }])
})

test('every node gets a transaction in either style', async () => {
  await using own = await served(3)
  await ask(`${own.router.url}/broadcast_tx_sync?tx=0x01`)
  const params = { tx: 'AQ==' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'broadcast_tx_sync', params })
  await ask(own.router.url, { method: 'POST', body })
  await expect
    .poll(() => own.nodes.map(({ requests }) => requests.filter(isBroadcast).length))
    .toEqual([2, 2, 2])
})

test.each([
  '/%62roadcast_tx_sync?tx=0x01',
  '//broadcast_tx_commit?tx=0x01',
  '/%2Fbroadcast_tx_async?tx=0x01',
  '/./broadcast_tx_sync/?tx=0x01',
])('GET %s is a transaction, and goes to every node as it was sent', async (target) => {
  await using own = await served(3)
  using client = new RawClient(own.router.port)
  client.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await expect
    .poll(() => own.nodes.map(({ requests }) => requests.map((each) => each.target)))
    .toEqual([[target], [target], [target]])
})

function isBroadcast({ target, body }: ReceivedRequest): boolean {
  return target.includes('broadcast') || body.includes('broadcast')
}

test('GET /health shows the health of the listener', async () => {
  await using own = await served(1)
  expect(await ask(`${own.router.url}/health`)).toMatchObject({ body: 'Health status OK' })
  expect(own.nodes[0]!.requests).toEqual([])
})

test("the router's own errors are JSON-RPC in either style", async () => {
  await using own = await served(1)
  await own.nodes[0]![Symbol.asyncDispose]()
  const { status, body } = await ask(`${own.router.url}/block?height=5`)
  expect(status).toBe(502)
  expect(JSON.parse(body)).toMatchObject({ id: -1, error: { data: { reason: 'upstream-failed' } } })
})

// Exceeds the consecutive failures that disable two upstreams.
test.each([
  ['GET *', 400],
  ['GET ftp://evil/x', 400],
  ['GET /../../admin', 400],
  ['GET /%2e%2e/status', 400],
  ['TRACE /status', 404],
  ['HEAD /none?height=x', 500],
  ['HEAD /none', 500],
])('%s neither harms a node nor counts against one', async (line, status) => {
  await using own = await served(2)
  for (let at = 0; at < 12; at++) {
    using client = new RawClient(own.router.port)
    client.write(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await client.untilClosed()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  }
  const { pool } = own.router
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible', 'eligible'])
})

test('an HTML answer to a known method does not count against a node', async () => {
  await using own = await served(2)
  for (const node of own.nodes) node.answer = (_, response) => response.writeHead(404).end('404')
  for (let at = 0; at < 12; at++) expect((await ask(`${own.router.url}/status`)).status).toBe(404)
  const { pool } = own.router
  expect(pool.upstreams.map((each) => each.state)).toEqual(['eligible', 'eligible'])
})
