// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { WebSocketProvider } from 'ethers'
import { createPublicClient, webSocket } from 'viem'
import { mainnet } from 'viem/chains'
import { afterEach, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { type ChainModel, createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

const slow = { interval: 20 }
let stack = new AsyncDisposableStack()
afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

interface Routed {
  readonly chain: ChainModel
  readonly nodes: readonly [SimNode, SimNode]
  readonly router: ServedRouter
}

/** Two nodes of one chain behind the router, with WebSockets by default. */
async function route(sockets = true): Promise<Routed> {
  const chain = createChainModel()
  const start = async (name: string) => stack.use(await startSimNode({ chain, name }))
  const nodes = [await start('a'), await start('b')] as const
  // The router checks a source after one block time without an event.
  const settings = { 'subscription-stall-blocks': 1 }
  const quick = { chainId: 'QUICK', specSources: [new URL('quick.yml', import.meta.url).pathname] }
  const router = stack.use(await serveRouter({ ...quick, primaries: nodes, sockets, settings }))
  return { chain, nodes, router }
}

interface Head {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

/** Receives heads with viem: raw, and by `watchBlocks`, which requests each block. */
async function watch({ router }: Routed) {
  const transport = webSocket(router.socketUrl, { reconnect: false, retryCount: 0 })
  const client = createPublicClient({ chain: mainnet, transport })
  const heads: Head[] = []
  const watched: number[] = []
  const errors: unknown[] = []
  const { unsubscribe } = await client.transport.subscribe({
    params: ['newHeads'],
    onData: ({ result }) => {
      const head = result as Omit<Head, 'number'> & { readonly number: string }
      heads.push({ ...head, number: Number(head.number) })
    },
    onError: (error) => void errors.push(error),
  })
  const stop = client.watchBlocks({
    emitMissed: false,
    // At the end of the test viem may report a failed request as an undefined block.
    onBlock: (block?: { readonly number: bigint | null }) => {
      if (block) watched.push(Number(block.number))
    },
    onError: (error) => void errors.push(error),
  })
  stack.defer(async () => {
    stop()
    await unsubscribe()
    const rpc = await client.transport.getRpcClient()
    rpc.close()
  })
  return { client, heads, watched, errors }
}

/** Mines blocks, and waits for each event. */
async function grow({ chain }: Routed, heads: readonly { hash: string | null }[], blocks: number) {
  for (let at = 0; at < blocks; at++) {
    chain.mine()
    const { hash } = chain.block(chain.head).block
    await expect.poll(() => heads.at(-1)?.hash, slow).toBe(hash)
  }
}

const subscribed = (nodes: readonly SimNode[]) => nodes.map(({ sockets }) => sockets.subscriptions)

describe('when the subscribed node dies', () => {
  const deaths: [string, (node: SimNode) => unknown][] = [
    ['that is killed', (node) => node.stop()],
    ['with a close frame', (node) => node.sockets.cut(1001)],
    ['that cuts its connections', (node) => node.sockets.cut()],
    ['that stays open without events', (node) => (node.sockets.settings.isStalled = true)],
    ['that lost its network', (node) => (node.sockets.settings.isHalfOpen = true)],
  ]
  test.each(deaths)(
    '%s: watchBlocks of viem continues without a gap',
    async (_name, kill) => {
      const routed = await route()
      const { chain, nodes } = routed
      const { heads, watched, errors } = await watch(routed)
      await grow(routed, heads, 3)
      await expect.poll(() => watched.length, slow).toBeGreaterThan(0)
      const first = nodes.find(({ sockets }) => sockets.subscriptions === 1)
      if (!first) throw new Error('no node has the subscription')
      await kill(first)
      chain.mine(5)
      const { hash } = chain.block(chain.head).block
      await expect.poll(() => heads.at(-1)?.hash, { interval: 50 }).toBe(hash)
      await grow(routed, heads, 3)
      expect(errors).toEqual([])
      const heights = heads.map(({ number }) => number)
      expect(heights).toEqual(heights.map((_, at) => (heights[0] as number) + at))
      for (const { number, hash } of heads) expect(hash).toBe(chain.block(number).block.hash)
      const fromFirst = () => heights.slice(heights.indexOf(Math.min(...watched)))
      await expect.poll(() => watched.toSorted((a, b) => a - b), slow).toEqual(fromFirst())
    },
    90_000,
  )
})

test('clients get every block of a reorganisation from the fork on', async () => {
  const routed = await route()
  const { heads } = await watch(routed)
  await grow(routed, heads, 3)
  routed.chain.reorg(2)
  await grow(routed, heads, 1)
  for (let at = heads.length - 3; at < heads.length - 1; at++)
    expect(heads[at + 1]?.parentHash).toBe(heads[at]?.hash)
})

test('without WebSocket upstreams the error of a subscription names the missing setting', async () => {
  const { router } = await route(false)
  const transport = webSocket(router.socketUrl, { reconnect: false, retryCount: 0 })
  const client = createPublicClient({ chain: mainnet, transport })
  const subscribed = client.transport.subscribe({ params: ['newHeads'], onData() {} })
  await expect(subscribed).rejects.toMatchObject({
    message: expect.stringContaining('has to add a ws:// or wss:// URL to node-urls') as string,
  })
  expect(await client.getBlockNumber()).toBeGreaterThan(0n)
  const rpc = await client.transport.getRpcClient()
  rpc.close()
})

test('ethers and web3.js call and subscribe over a WebSocket, and leak no subscription', async () => {
  const routed = await route()
  const { chain, nodes, router } = routed
  const ethers = new WebSocketProvider(router.socketUrl, 1)
  const web3 = new Web3(new Web3.providers.WebsocketProvider(router.socketUrl))
  const heights: { ethers: number[]; web3: number[] } = { ethers: [], web3: [] }
  try {
    expect(await ethers.getBlockNumber()).toBe(chain.head)
    expect(await web3.eth.getBlockNumber()).toBe(BigInt(chain.head))
    const block = await ethers.getBlock(chain.head - 3)
    expect(block?.hash).toBe(chain.block(chain.head - 3).block.hash)
    await ethers.on('block', (height: number) => void heights.ethers.push(height))
    const subscription = await web3.eth.subscribe('newHeads')
    subscription.on('data', ({ number }) => void heights.web3.push(Number(number)))
    await expect.poll(() => subscribed(nodes).reduce((a, b) => a + b), slow).toBe(1)
    for (let at = 0; at < 4; at++) {
      chain.mine()
      await expect.poll(() => heights.web3.at(-1), slow).toBe(chain.head)
      await expect.poll(() => heights.ethers.at(-1), slow).toBe(chain.head)
    }
    await subscription.unsubscribe()
  } finally {
    await ethers.destroy()
    web3.provider?.disconnect()
  }
  await expect.poll(() => subscribed(nodes), slow).toEqual([0, 0])
})
