// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { connect } from 'node:http2'
import { getGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { EchoServer } from '../grpc/echo-server.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter, type ServedRouter } from './served-router.ts'

/*
 * Servers may parse a path, a query, a header or a message in two ways. The router forwards such a
 * request unchanged, and does not cache the answer, or caches it for exactly these bytes.
 */

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const urlSettings = { node: { 'skip-verifications': ['*'] } }
const transaction = { hash: 'AB'.repeat(32), height: '5', version: '5' }
let node: MirrorNode
let rest: ServedRouter
let hub: ServedRouter
let tendermint: ServedRouter
beforeAll(async () => {
  node = stack.use(
    await new MirrorNode('node', ({ target }, response) => {
      const isRest = target.startsWith('/transactions')
      const answer = isRest ? transaction : { jsonrpc: '2.0', id: -1, result: { at: target } }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    }).start(),
  )
  const serve = async (chainId: string, apiInterface: 'rest' | 'tendermintrpc') =>
    stack.use(await serveRouter({ apiInterface, chainId, primaries: [node], urlSettings }))
  rest = await serve('MOVECHAIN', 'rest')
  hub = await serve('HUBCHAIN', 'rest')
  tendermint = await serve('HUBCHAIN', 'tendermintrpc')
})
beforeEach(() => (node.requests.length = 0))

/** The targets of clients' requests. The router probes the node at `/`. */
const clientTargets = () => node.requests.map(({ target }) => target).filter((each) => each !== '/')

/** Sends the path unchanged, and returns the status and the cache outcome. */
async function outcomeOf(
  { url }: ServedRouter,
  path: string,
  extraHeaders: readonly string[] = [],
) {
  const headers = ['rpc-debug-relay', '1', ...extraHeaders]
  const request = { origin: url, path, method: 'GET', headers } as const
  const answer = await getGlobalDispatcher().request(request)
  await answer.body.dump()
  return `${answer.statusCode} ${String(answer.headers['rpc-cache'])}`
}

test.each([
  '/transactions//by_version/5',
  '/transactions/./by_version/5',
  '/transactions/by_version%2f5',
  '/transactions/by_version/5%2Fx',
  '/transactions/by_version/5;x=1',
  '/transactions/by_version/5%3Bx',
  '/transactions/by_version/5%00',
  // The answer is about another block, but the router does not check it.
  '/transactions//by_version/6',
])('GET %s over REST', async (target) => {
  for (let each = 0; each < 2; each++)
    expect(await outcomeOf(rest, target)).toMatch(/^200 bypass; why=method/)
  expect(clientTargets()).toEqual([target, target])
})

test('the answer for an unambiguous path is cached, and a mismatch is refused', async () => {
  const path = '/transactions/by_version'
  expect(await outcomeOf(rest, `${path}/5`)).toBe('200 miss')
  expect(await outcomeOf(rest, `${path}/5`)).toBe('200 hit')
  expect(await outcomeOf(rest, `${path}/6`)).toMatch(/^502 miss/)
})

const height = 'x-cosmos-block-height'
test.each<[string, string[], string]>([
  ['one height', [height, '5'], 'block-unknown'],
  ['two heights', [height, '5', height, '6'], 'method'],
  ['a height twice', [height, '5', 'X-Cosmos-Block-Height', '5'], 'method'],
  ['a height under two names', [height, '5', `grpc-metadata-${height}`, '6'], 'method'],
])('%s in the headers of REST', async (_, headers, why) => {
  const outcome = await outcomeOf(hub, '/cosmos/bank/v1beta1/supply', headers)
  expect(outcome).toBe(`200 bypass; why=${why}`)
})

test.each([
  ['/block?height=5', 'block-unknown'],
  ['/block?height=5&height=6', 'method'],
  ['/block?height=5&Height=6', 'method'],
  ['/block?%68eight=6', 'method'],
  ['/block?x=1;height=5', 'method'],
  ['//block?height=5', 'method'],
])('GET %s of Tendermint RPC', async (target, why) => {
  expect(await outcomeOf(tendermint, target)).toBe(`200 bypass; why=${why}`)
  expect(clientTargets()).toEqual([target])
})

test.each([
  ['application/grpc', [0x08, 5], 'block-unknown'],
  ['application/grpc+proto', [0x08, 5], 'block-unknown'],
  ['application/grpc+json', [0x08, 5], 'method'],
  ['application/grpc', [0x08, 5, 0x08, 6], 'method'],
  ['application/grpc', [0x0b, 0x0c, 0x08, 6], 'method'],
] as const)('a height in a message of %s: %j', async (type, message, why) => {
  await using server = await new EchoServer().start()
  await using router = await serveRouter({
    ...{ chainId: 'HUBCHAIN', apiInterface: 'grpc', urlSettings },
    primaries: [{ name: 'node', url: `grpc://127.0.0.1:${server.port}` }],
  })
  const client = connect(router.url)
  const stream = client.request({
    ...{ ':method': 'POST', 'content-type': type, te: 'trailers', 'rpc-debug-relay': '1' },
    ':path': '/cosmos.base.tendermint.v1beta1.Service/GetBlockByHeight',
  })
  stream.end(Uint8Array.from([0, 0, 0, 0, message.length, ...message]))
  const [headers] = (await once(stream, 'response')) as [Record<string, string>]
  client.destroy()
  expect(headers['rpc-cache']).toBe(`bypass; why=${why}`)
})
