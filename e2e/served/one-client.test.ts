// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { request as send } from 'undici'
import { expect, test } from 'vitest'
import { MirrorNode, type ReceivedRequest } from '../rest/mirror-node.ts'
import { serveRouter, uncached } from './served-router.ts'

interface Call {
  readonly id: unknown
  readonly method: string
}

/** An honest node that fails on the calls of one client. */
function answer({ body }: ReceivedRequest, response: ServerResponse): void {
  const { id, method } = JSON.parse(body.toString()) as Call
  if (method === 'eth_getLogs') return void response.socket?.resetAndDestroy()
  if (method === 'eth_getProof') return void response.writeHead(500).end('<h1>out of memory</h1>')
  const error =
    method === 'debug_traceCall'
      ? { code: -32000, message: 'rate limit exceeded' }
      : method === 'eth_getBlockReceipts' && { code: -32603, message: 'Internal error' }
  const result = method === 'eth_blockNumber' ? '0x10' : '0x1'
  const truncatedId = typeof id === 'string' ? id.slice(0, 1_000) : id
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({ jsonrpc: '2.0', id: truncatedId, ...(error ? { error } : { result }) }),
  )
}

const balance = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'

const attacks: readonly [method: string, params: unknown[], id?: unknown][] = [
  ['eth_getLogs', [{ fromBlock: '0x0' }]],
  ['eth_getProof', ['0x1', [], 'latest']],
  ['eth_getBlockReceipts', ['latest']],
  ['debug_traceCall', [{}, 'latest', { tracer: '{fault(){throw "rate limit exceeded"}}' }]],
  ['eth_getBalance', ['0x1', 'latest'], 'x'.repeat(100_000)],
]

test("one client's calls neither disable a node for others nor start a cooldown", async () => {
  await using stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (const name of 'abc') nodes.push(stack.use(await new MirrorNode(name, answer).start()))
  const urlSettings = Object.fromEntries(
    nodes.map(({ name }) => [name, { addons: ['debug'], 'skip-verifications': ['*'] }]),
  )
  const router = stack.use(await serveRouter({ primaries: nodes, urlSettings, settings: uncached }))
  const ask = async (method: string, params: unknown[], id: unknown = 1) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const reply = await send(router.url, { method: 'POST', body })
    return reply.body.text()
  }
  const innocent = () => ask('eth_getBalance', ['0x1', 'latest'])
  for (let each = 0; each < 3; each++) expect(await innocent()).toBe(balance)
  const states = new Set<string>()
  for (let round = 0; round < 20; round++) {
    const calls = Array.from({ length: 4 }, () => attacks.map((attack) => ask(...attack)))
    const answers = [innocent(), innocent(), innocent()]
    for (const each of await Promise.all(answers)) expect(each).toBe(balance)
    await Promise.all(calls.flat())
    for (const each of router.pool.upstreams) states.add(each.state)
  }
  expect(states).toEqual(new Set(['eligible']))
})

test('failing calls alone do not disable the only node of a quiet listener', async () => {
  await using stack = new AsyncDisposableStack()
  const node = stack.use(await new MirrorNode('a', answer).start())
  const router = stack.use(await serveRouter({ primaries: [node], settings: uncached }))
  const [upstream] = router.pool.upstreams
  for (let round = 0; round < 20; round++) {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x0"}]}'
    await (await send(router.url, { method: 'POST', body })).body.text()
    expect(upstream!.state).toBe('eligible')
  }
})
