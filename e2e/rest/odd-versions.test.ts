// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { MirrorNode, type ReceivedRequest } from './mirror-node.ts'
import { serveRouter } from '../served/served-router.ts'

interface Request {
  readonly jsonrpc?: string
  readonly id?: unknown
}

/** Like btcd, answers a request without a version with only a line feed. */
function answerOf({ jsonrpc, id }: Request): string {
  if (jsonrpc === undefined) return ''
  return JSON.stringify({ jsonrpc, result: 7, error: null, id })
}

test.each<[string, unknown]>([
  ['{"id":"a","method":"getblockcount"}', { result: 7, id: 'a' }],
  ['{"jsonrpc":"2.0","id":5,"method":"getblockcount"}', { jsonrpc: '2.0', result: 7, id: 5 }],
  ['[{"id":1,"method":"getblockcount"}]', [{ result: 7, id: 1 }]],
  ['{"method":"unknown"}', { result: 7, id: null }],
])('%s is answered, and no upstream is blamed', async (body, expected) => {
  await using node = await new MirrorNode('node', (request: ReceivedRequest, response) => {
    const answer = answerOf(JSON.parse(request.body.toString()) as Request)
    response.setHeader('content-type', 'application/json')
    response.end(`${answer}\n`)
  }).start()
  await using router = await serveRouter({
    chainId: 'BTC',
    primaries: [node],
    urlSettings: { node: { 'skip-verifications': ['*'] } },
  })
  for (let at = 0; at < 5; at++) {
    const response = await fetch(router.url, { method: 'POST', body })
    expect(await response.json()).toMatchObject(expected as object)
  }
  expect(router.pool.hasEligible).toBe(true)
})
