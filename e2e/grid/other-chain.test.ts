// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { serveRouter } from '../served/served-router.ts'

/** The answers of a node; a test changes them. */
interface ChainState {
  eth_chainId: string
  eth_blockNumber: string
  eth_getBalance: string
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

async function startNode(state: ChainState): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(pieces).toString()) as {
          id: unknown
          method: keyof ChainState
        }
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: state[method] ?? null }))
      })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function ask(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  return ((await response.json()) as { result?: unknown }).result
}

it('a node that switches to another chain leaves service at the next head', async () => {
  const own = { eth_chainId: '0x1', eth_blockNumber: '0x100', eth_getBalance: '0x1' }
  const changing: ChainState = { ...own }
  await using router = await serveRouter({
    primaries: [
      { name: 'a', url: await startNode(own) },
      { name: 'b', url: await startNode(changing) },
    ],
  })
  const balance = () => ask(router.url, 'eth_getBalance', [`0x${'1'.repeat(40)}`, 'latest'])
  expect(await Promise.all(Array.from({ length: 10 }, balance))).not.toContain('0x2')
  Object.assign(changing, {
    eth_chainId: '0x89',
    eth_blockNumber: '0x4000000',
    eth_getBalance: '0x2',
  })
  // The calls go to both nodes.
  await Promise.all(Array.from({ length: 4 }, () => ask(router.url, 'eth_blockNumber')))
  const after: unknown[] = []
  for (let each = 0; each < 50; each++) after.push(await balance())
  expect(new Set(after)).toEqual(new Set(['0x1']))
  expect(router.pool.snapshot().upstreams.map(({ state }) => state)).toEqual([
    'eligible',
    'rejected',
  ])
})
