// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

/*
 * A JSON-RPC result with a status such as 302 is invalid, so the router retries at another node.
 */

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const settings = { 'skip-verifications': ['*'] }
const urlSettings = { odd: settings, honest: settings }
const raw = `0x${'f8'.repeat(110)}`

/** Makes the first of two nodes answer with this status. */
async function serve(status: number, result: string) {
  const answering =
    (code: number, value: string): MirrorNode['answer'] =>
    ({ body }, response) => {
      const { id } = JSON.parse(body.toString()) as { id: number }
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: value })
      const length = Buffer.byteLength(text)
      const location = code >= 300 ? { location: '/elsewhere' } : {}
      const headers = { 'content-type': 'application/json', 'content-length': length, ...location }
      response.writeHead(code, headers)
      response.end(text)
    }
  const odd = stack.use(await new MirrorNode('odd', answering(200, '0x1')).start())
  const honest = stack.use(await new MirrorNode('honest', answering(200, '0x2')).start())
  const primaries = [odd, honest]
  const options = { chainId: 'ETH1', apiInterface: 'jsonrpc' as const, primaries, urlSettings }
  const router = stack.use(await serveRouter(options))
  odd.answer = answering(status, result)
  return async (method: string, params: unknown[]) => {
    const response = await fetch(router.url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', 'rpc-select-provider': 'odd' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    })
    return [response.status, await response.json()]
  }
}

const balance = ['eth_getTransactionCount', [`0x${'a'.repeat(40)}`, 'latest']] as const
const code = ['eth_getCode', [`0x${'a'.repeat(40)}`, 'latest']] as const
const write = ['eth_sendRawTransaction', [raw]] as const
const short = '0x1'
const long = `0x${'a'.repeat(4_000_000)}`

test.each([
  ['a read', balance, short, 302],
  ['a read', balance, short, 307],
  ['a read', balance, short, 205],
  ['a read', balance, short, 226],
  ['a long answer', code, long, 302],
  ['a long answer', code, long, 205],
  ['a write', write, short, 302],
  ['a write', write, short, 205],
])('$0 goes to another node: HTTP $3', async (_, [method, params], result, status) => {
  const ask = await serve(status, result)
  expect(await ask(method, [...params])).toEqual([200, { jsonrpc: '2.0', id: 7, result: '0x2' }])
})

test.each([201, 202, 203])('a result with status %i is the answer', async (status) => {
  const ask = await serve(status, '0x1')
  const [method, params] = balance
  expect(await ask(method, [...params])).toMatchObject([status, { result: '0x1' }])
})
