// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonRpcProvider, Network } from 'ethers'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { eventually } from '../processes/eventually.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { bells, rung, serveBells } from './bell-chain.ts'

interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly blockNumber: string
}

const hex = (number: number) => `0x${number.toString(16)}`

test('1,000 random queries are equal to one full scan of a real node', async () => {
  await using stack = new AsyncDisposableStack()
  const { chain, serve } = await serveBells(stack)
  for (let each = 0; each < 200; each++) {
    await chain.ring(1 + (each % 3))
    await chain.mine(1 + (each % 20))
  }
  await chain.mine(100)
  const head = Number(await askRpc<string>(chain.url, 'eth_blockNumber'))
  const all = await askRpc<Log[]>(chain.url, 'eth_getLogs', [
    { fromBlock: '0x0', toBlock: 'latest' },
  ])
  expect(all.length).toBe(chain.events)
  const router = await serve()
  const random = seededRandom(1)
  const below = (end: number) => Math.floor(random.next() * end)
  const topics = [0, 1].map((at) => [...new Set(all.map((log) => log.topics[at] ?? ''))])
  const some = (values: readonly string[]) => {
    const kind = below(4)
    const [one = ''] = values.slice(below(values.length))
    return kind === 0 ? null : kind === 1 ? one : values.filter(() => below(2) === 0)
  }
  const isIn = (wanted: string | readonly string[] | null, value?: string) =>
    wanted === null || wanted.length === 0 || [wanted].flat().includes(value ?? '')
  const query = async () => {
    const from = below(head)
    const to = Math.min(head, from + below(1_500))
    const address = some(bells)
    const wanted = topics.slice(0, below(3)).map(some)
    const filter = {
      fromBlock: hex(from),
      toBlock: hex(to),
      address: address ?? [],
      topics: wanted,
    }
    const expected = all.filter(
      (log) =>
        Number(log.blockNumber) >= from &&
        Number(log.blockNumber) <= to &&
        isIn(address, log.address) &&
        wanted.every((each, at) => isIn(each, log.topics[at])),
    )
    const logs = await askRpc(router.url, 'eth_getLogs', [filter])
    expect(JSON.stringify(logs), JSON.stringify(filter)).toBe(JSON.stringify(expected))
  }
  for (let each = 0; each < 125; each++) await Promise.all(Array.from({ length: 8 }, query))
})

test('a reorganisation in the middle is mended', async () => {
  await using stack = new AsyncDisposableStack()
  const words = (most: number) => `block range too large, max: ${most}`
  const { chain, serve } = await serveBells(stack, {
    a: { blocks: 10, words },
    b: { blocks: 10, words },
  })
  for (let each = 0; each < 150; each++) {
    await chain.ring(1)
    await chain.mine(1)
  }
  const head = Number(await askRpc<string>(chain.url, 'eth_blockNumber'))
  const router = await serve()
  const params = [{ fromBlock: hex(head - 59), toBlock: hex(head) }]
  await askRpc(router.url, 'eth_getLogs', params)
  for (let at = 1; at <= 20; at++) {
    let answered = 0
    chain.beforeLogs = async () => {
      if (++answered === at) await askRpc(chain.url, 'anvil_reorg', [30, []])
    }
    const logs = await askRpc<readonly Log[]>(router.url, 'eth_getLogs', params)
    chain.beforeLogs = async () => {}
    const expected = await askRpc<readonly Log[]>(chain.url, 'eth_getLogs', params)
    expect(JSON.stringify(logs), `before answer ${at}`).toBe(JSON.stringify(expected))
  }
})

test('a client that leaves ends all requests', async () => {
  await using stack = new AsyncDisposableStack()
  const words = (most: number) => `block range exceeds ${most}`
  const { chain, serve } = await serveBells(stack, { a: { blocks: 20, words } })
  for (let each = 0; each < 10; each++) await chain.mine(200)
  const router = await serve()
  chain.beforeLogs = () => new Promise((resolve) => setTimeout(resolve, 50))
  const leave = new AbortController()
  const filter = { fromBlock: '0x1', toBlock: hex(1_900) }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })
  const headers = { 'content-type': 'application/json' }
  const answer = fetch(router.url, { method: 'POST', headers, body, signal: leave.signal })
  await eventually(() => chain.asked.length > 4)
  leave.abort()
  await expect(answer).rejects.toThrow('abort')
  await eventually(() => router.budget.heldBytes === 0)
  const { length } = chain.asked
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  // One request may be under way.
  expect(chain.asked.length - length).toBeLessThanOrEqual(1)
})

test('indexers in a loop and at the tip see each event once', async () => {
  await using stack = new AsyncDisposableStack()
  const { chain, serve } = await serveBells(stack)
  for (let each = 0; each < 100; each++) {
    await chain.ring(2)
    await chain.mine(20)
  }
  const router = await serve()
  const client = createPublicClient({ chain: mainnet, transport: http(router.url) })
  const head = await client.getBlockNumber()
  const looped: (bigint | undefined)[] = []
  for (let from = 0n; from <= head; from += 700n) {
    const to = from + 699n < head ? from + 699n : head
    const logs = await client.getLogs({ event: rung, fromBlock: from, toBlock: to })
    looped.push(...logs.map(({ args }) => args.value))
  }
  const provider = new JsonRpcProvider(router.url, Network.from(1), { staticNetwork: true })
  stack.defer(() => {
    provider.destroy()
  })
  const scanned = await provider.getLogs({ address: [...bells], fromBlock: 0, toBlock: 'latest' })
  const upTo = (count: number) => Array.from({ length: count }, (_, at) => BigInt(at + 1))
  expect(looped).toEqual(upTo(200))
  expect(scanned.map(({ data }) => BigInt(data))).toEqual(upTo(200))
  const watched: (bigint | undefined)[] = []
  const unwatch = client.watchEvent({
    event: rung,
    pollingInterval: 50,
    onLogs: (logs) => watched.push(...logs.map(({ args }) => args.value)),
  })
  stack.defer(unwatch)
  await eventually(async () => {
    await chain.ring(1)
    await chain.mine(1)
    return watched.length > 20
  })
  await eventually(() => watched.at(-1) === BigInt(chain.events))
  const [first = 0n] = watched
  expect(watched).toEqual(upTo(chain.events).slice(Number(first) - 1))
})
