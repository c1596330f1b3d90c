// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { FetchRequest, JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { expect, test } from 'vitest'
import { serveRouter, uncached } from '../served/served-router.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

/* The examples of docs/concepts/consistency.md. */

async function routed(settings: Readonly<Record<string, string>> = {}) {
  const stack = new AsyncDisposableStack()
  const chain = createChainModel()
  const ahead = stack.use(await startSimNode({ chain, name: 'ahead' }))
  const behind = stack.use(await startSimNode({ chain, name: 'behind', lagBlocks: 1 }))
  const router = stack.use(await serveRouter({ primaries: [ahead, behind], settings }))
  return { stack, url: router.url, head: chain.head }
}

test('viem: the head that a client sees never goes back', async () => {
  const { stack, url, head } = await routed()
  await using _ = stack
  let seen = 0
  const transport = http(url, {
    onFetchRequest: (_request, init) => ({
      ...init,
      headers: { ...(init.headers as Record<string, string>), 'rpc-min-block': String(seen) },
    }),
    onFetchResponse: ({ headers }) => {
      seen = Math.max(seen, Number(headers.get('provider-latest-block') ?? 0))
    },
  })
  const client = createPublicClient({ transport, cacheTime: 0 })
  for (let each = 0; each < 6; each++) expect(await client.getBlockNumber()).toBe(BigInt(head))
})

test('ethers: the head that a client sees never goes back', async () => {
  const { stack, url, head } = await routed()
  await using _ = stack
  let seen = 0
  const request = new FetchRequest(url)
  request.preflightFunc = (each) => {
    each.setHeader('rpc-min-block', seen)
    return Promise.resolve(each)
  }
  request.processFunc = (_request, response) => {
    seen = Math.max(seen, Number(response.headers['provider-latest-block'] ?? 0))
    return Promise.resolve(response)
  }
  const provider = new JsonRpcProvider(request, 1, { staticNetwork: true, cacheTimeout: -1 })
  for (let each = 0; each < 6; each++) expect(await provider.getBlockNumber()).toBe(head)
  provider.destroy()
})

test('without the header a client may see it go back', async () => {
  const { stack, url, head } = await routed(uncached)
  await using _ = stack
  const client = createPublicClient({ transport: http(url), cacheTime: 0 })
  const heads = [await client.getBlockNumber(), await client.getBlockNumber()]
  expect(heads).toEqual([BigInt(head), BigInt(head - 1)])
})

test('a client that is ahead of the router waits until an upstream reports the block', async () => {
  await using stack = new AsyncDisposableStack()
  const chain = createChainModel()
  const node = stack.use(await startSimNode({ chain, name: 'slow', lagBlocks: 1 }))
  const router = stack.use(await serveRouter({ primaries: [node] }))
  const ask = (minBlock: number) =>
    fetch(router.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'rpc-min-block': String(minBlock) },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}',
    })
  const waiting = ask(chain.head)
  await expect.poll(() => node.calls.count('eth_blockNumber')).toBeGreaterThan(2)
  Object.assign(node.view, { lagBlocks: 0 })
  const response = await waiting
  const latest = Number(response.headers.get('provider-latest-block'))
  expect([response.status, latest]).toEqual([200, chain.head])
})
