// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { FetchRequest, JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { expect, test } from 'vitest'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
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

test('viem: the head never goes back', async () => {
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

interface Block {
  readonly number: string
}

/** The provider in the example. */
function ethersAt(url: string): JsonRpcProvider {
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
  return new JsonRpcProvider(request, 1, { staticNetwork: true, cacheTimeout: -1 })
}

test('ethers: the head never goes back', async () => {
  const { stack, url, head } = await routed()
  await using _ = stack
  const provider = stack.adopt(ethersAt(url), (each) => each.destroy())
  for (let each = 0; each < 6; each++) expect(await provider.getBlockNumber()).toBe(head)
})

test('ethers: the head never goes back in batches that several upstreams answer', async () => {
  await using stack = new AsyncDisposableStack()
  const random = seededRandom(1)
  const chain = createChainModel()
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
  for (const node of nodes) stack.use(node)
  const router = stack.use(await serveRouter({ primaries: nodes, settings: uncached }))
  const { pool } = router
  const provider = stack.adopt(ethersAt(router.url), (each) => each.destroy())
  let highest = 0
  let differing = 0
  for (let round = 0; round < 40; round++) {
    chain.mine()
    // A node's own head never goes back.
    for (const [at, { view }] of nodes.entries()) {
      view.lagBlocks = Math.min(view.lagBlocks + 1, Math.floor(random.next() * 3))
      const upstream = pool.upstreams[at]!
      // Reports the head to the router, as a probe does.
      const head = chain.head - view.lagBlocks
      pool.observeHead(upstream, head, patientClock.nowMs(), upstream.urls[0]!)
    }
    const ask = () => provider.send('eth_getBlockByNumber', ['latest', false])
    const batch = Array.from({ length: 3 }, async () => ((await ask()) as Block).number)
    const heads = (await Promise.all(batch)).map(Number)
    expect(Math.min(...heads)).toBeGreaterThanOrEqual(highest)
    if (new Set(heads).size > 1) differing += 1
    highest = Math.max(...heads)
  }
  expect(differing).toBeGreaterThan(5)
})

test('without the header the latest block may go back, but eth_blockNumber does not', async () => {
  const { stack, url, head } = await routed(uncached)
  await using _ = stack
  const client = createPublicClient({ transport: http(url), cacheTime: 0 })
  const latest = async () => (await client.getBlock()).number
  expect([await latest(), await latest()]).toEqual([BigInt(head), BigInt(head - 1)])
  const numbers = [await client.getBlockNumber(), await client.getBlockNumber()]
  expect(numbers).toEqual([BigInt(head), BigInt(head)])
})

test('a request ahead of the router waits until an upstream reports the block', async () => {
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
