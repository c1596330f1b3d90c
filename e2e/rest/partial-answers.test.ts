// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode, type ReceivedRequest } from './mirror-node.ts'

/*
 * A partial answer is invalid, and clients cannot request one.
 */

const mirror = [new URL('mirror.yml', import.meta.url).pathname]
const settings = { 'skip-verifications': ['*'] }
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

interface Part {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Makes the first of two nodes send partial answers, and the other whole ones. */
async function serve(
  chainId: string,
  apiInterface: 'rest' | 'jsonrpc',
  part: Part,
  whole: (request: ReceivedRequest) => string,
) {
  const tellWhole: MirrorNode['answer'] = (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(whole(request))
  }
  const partial = new MirrorNode('partial', tellWhole)
  const honest = new MirrorNode('honest', tellWhole)
  const primaries = [stack.use(await partial.start()), stack.use(await honest.start())]
  const urlSettings = { partial: settings, honest: settings }
  const specSources = chainId === 'MIRROR' ? mirror : []
  const options = { specSources, chainId, apiInterface, primaries, urlSettings }
  const router = stack.use(await serveRouter(options))
  partial.answer = (_, response) => {
    response.writeHead(206, part.headers)
    response.end(part.body)
  }
  return { router, partial }
}

const account = `{"sequence_number":"1","authentication_key":"0x${'1'.repeat(64)}"}`
const select = { 'rpc-select-provider': 'partial' }
const range = { 'content-type': 'application/octet-stream', 'content-range': 'bytes 0-3/9' }
const ranges = { 'content-type': 'multipart/byteranges; boundary=x' }

test.each<[string, string, string, Part]>([
  ['of a path in the spec', 'MOVECHAIN', '/accounts/0x1', { headers: range, body: '1234' }],
  ['of any other path', 'MOVECHAIN', '/unnamed', { headers: range, body: '1234' }],
  ['of a path with any content', 'MIRROR', '/things/a', { headers: range, body: '1234' }],
  ['with several parts', 'MIRROR', '/things/a', { headers: ranges, body: '--x--' }],
])('after a part %s another node is asked', async (_, chainId, path, part) => {
  const { router } = await serve(chainId, 'rest', part, () => account)
  const response = await fetch(`${router.url}${path}`, { headers: select })
  expect(response.headers.get('rpc-reported-providers')).toBe('partial')
  expect([response.status, await response.text()]).toEqual([200, account])
})

test.each([
  ['MOVECHAIN', '/accounts/0x1'],
  ['MIRROR', '/things/latest'],
])(
  'a range request by %s gets the whole answer, whatever headers the spec allows',
  async (chainId, path) => {
    const { router, partial } = await serve(
      chainId,
      'rest',
      { headers: range, body: '1' },
      () => account,
    )
    const headers = { ...select, range: 'bytes=0-3' }
    const response = await fetch(`${router.url}${path}`, { headers })
    expect(partial.requests.at(-1)?.headers).not.toHaveProperty('range')
    expect([response.status, await response.text()]).toEqual([200, account])
  },
)

test('a whole batch with failed items has the status 206', async () => {
  const body = '{"transaction_failures":[{"transaction_index":1}]}'
  const json = { 'content-type': 'application/json' }
  const { router } = await serve('MOVECHAIN', 'rest', { headers: json, body }, () => account)
  const response = await fetch(`${router.url}/transactions/batch`, {
    method: 'POST',
    headers: { ...select, 'content-type': 'application/x.aptos.signed_transaction+bcs' },
    body: 'two transactions',
  })
  expect([response.status, await response.text()]).toEqual([206, body])
})

test.each([
  ['with a range', range],
  ['without one', { 'content-type': 'application/json' }],
])('over JSON-RPC, after a part %s another node is asked', async (_, headers) => {
  const answer = (result: string) => JSON.stringify({ jsonrpc: '2.0', id: 7, result })
  const whole = ({ body }: ReceivedRequest) => {
    const { id } = JSON.parse(body.toString()) as { id: number }
    return JSON.stringify({ jsonrpc: '2.0', id, result: '0x2' })
  }
  const { router } = await serve('ETH1', 'jsonrpc', { headers, body: answer('0x1') }, whole)
  const response = await fetch(router.url, {
    method: 'POST',
    headers: { ...select, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'eth_getTransactionCount',
      params: [`0x${'a'.repeat(40)}`, 'latest'],
    }),
  })
  expect(response.headers.get('rpc-reported-providers')).toBe('partial')
  expect([response.status, await response.json()]).toMatchObject([200, { result: '0x2' }])
})
