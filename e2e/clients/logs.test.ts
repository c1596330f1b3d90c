// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { JsonRpcProvider, Network } from 'ethers'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'
import { expect, test } from 'vitest'
import { receiptsRoot } from '../../proxy/integrity/receipts-root.ts'
import { addresses, type Limits, LogChain } from '../../proxy/logs/testing/log-chain.ts'
import { startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace } from '../program/workspace.ts'
import {
  type ServedNode,
  type ServedRouter,
  serveRouter,
  uncached,
} from '../served/served-router.ts'

const head = 100_000
const [address = ''] = addresses

/** Nodes of one chain of logs over HTTP, with a limit each. */
async function serveLogs(
  stack: AsyncDisposableStack,
  all: Readonly<Record<string, Limits>>,
  settings: Readonly<Record<string, unknown>> = {},
) {
  const chain = new LogChain(head)
  const nodes = Object.entries(all).map(async ([name, limits]): Promise<ServedNode> => {
    const script = chain.node(name, limits)
    const server = createServer((request, response) => {
      void (async () => {
        const pieces: Uint8Array[] = []
        for await (const piece of request) pieces.push(piece as Uint8Array)
        const body = Buffer.concat(pieces)
        const { id, method } = JSON.parse(body.toString()) as { id: unknown; method: string }
        const simple = { eth_blockNumber: `0x${head.toString(16)}`, eth_chainId: '0x1' }[method]
        const text =
          method === 'eth_getLogs'
            ? script({ verb: 'POST', path: '', headers: [], body }).body
            : JSON.stringify({ result: simple ?? null })
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ ...(JSON.parse(text ?? '') as object), jsonrpc: '2.0', id }))
      })()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stack.defer(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })
  const primaries = await Promise.all(nodes)
  const own = { 'skip-verifications': ['*'], 'max-batch': 1 }
  const router: ServedRouter = stack.use(
    await serveRouter({
      primaries,
      urlSettings: Object.fromEntries(primaries.map(({ name }) => [name, own])),
      settings: { ...uncached, ...settings },
    }),
  )
  return { chain, router }
}

const three = { a: { blocks: 10_000 }, b: { blocks: 5_000 }, c: { blocks: 2_000 } }

test('viem and ethers get all logs of a range that no node accepts', async () => {
  await using stack = new AsyncDisposableStack()
  const { chain, router } = await serveLogs(stack, three)
  const expected = chain.logs(10_001, 30_000, { address })
  const client = createPublicClient({ chain: mainnet, transport: http(router.url) })
  const viem = await client.getLogs({
    address: address as `0x${string}`,
    fromBlock: 10_001n,
    toBlock: 30_000n,
  })
  expect(viem.map(({ data }) => data)).toEqual(expected.map(({ data }) => data))
  const provider = new JsonRpcProvider(router.url, Network.from(1), { staticNetwork: true })
  stack.defer(() => {
    provider.destroy()
  })
  const ethers = await provider.getLogs({ address, fromBlock: 10_001, toBlock: 30_000 })
  expect(ethers.map(({ data }) => data)).toEqual(expected.map(({ data }) => data))
})

test('a long answer streams with the id of the client', async () => {
  await using stack = new AsyncDisposableStack()
  const { chain, router } = await serveLogs(stack, three)
  const id = 'an id that is "quoted"'
  const params = [{ fromBlock: '0x1', toBlock: '0x4e20' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_getLogs', params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(router.url, { method: 'POST', headers, body })
  expect(response.headers.has('content-length')).toBe(false)
  expect(response.headers.get('rpc-logs')).toBe('streamed; blocks=20000')
  const text = await response.text()
  expect(text).toBe(JSON.stringify({ jsonrpc: '2.0', id, result: chain.logs(1, 20_000) }))
  const batch = await fetch(router.url, { method: 'POST', headers, body: `[${body},${body}]` })
  expect(await batch.text()).toBe(`[${text},${text}]`)
})

test('a range that takes too many requests names the one that fits', async () => {
  await using stack = new AsyncDisposableStack()
  const { router } = await serveLogs(
    stack,
    { a: { blocks: 1 } },
    { 'default-processing-timeout': '1s' },
  )
  await askRpc(router.url, 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x14' }])
  const params = [{ fromBlock: '0x1', toBlock: '0x186a0' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(router.url, { method: 'POST', headers, body })
  const { error } = (await response.json()) as { error: { message: string } }
  expect(error.message).toMatch(/Try with this block range \[0x1, 0x[0-9a-f]+\]/)
})

test('logs of a real node are equal to a full scan, byte for byte', async () => {
  await using stack = new AsyncDisposableStack()
  const stop = new AbortController()
  stack.defer(() => {
    stop.abort()
  })
  const children = stack.use(new ChildProcesses(stack.use(await createWorkspace()).directory))
  const [port = 0] = await freePorts(1)
  const { url } = await startAnvil({
    ...{ name: 'one', port, chainId: 1, mining: 'each-transaction', children },
    signal: stop.signal,
  })
  const bell = `0x${'be'.repeat(20)}`
  // A contract that emits one log per call.
  await askRpc(url, 'anvil_setCode', [bell, '0x60006000a000'])
  const [from] = await askRpc<string[]>(url, 'eth_accounts')
  for (let each = 0; each < 6; each++) {
    await askRpc(url, 'eth_sendTransaction', [{ from, to: bell, gas: '0xc350' }])
    await askRpc(url, 'anvil_mine', ['0x32'])
  }
  // Old blocks become final.
  await askRpc(url, 'anvil_mine', ['0xc8'])
  const router = stack.use(
    await serveRouter({
      primaries: [{ name: 'one', url }],
      urlSettings: { one: { 'max-log-blocks': 30 } },
    }),
  )
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: bell }
  const expected = await askRpc<unknown[]>(url, 'eth_getLogs', [filter])
  expect(expected.length).toBe(6)
  for (let each = 0; each < 2; each++)
    expect(JSON.stringify(await askRpc(router.url, 'eth_getLogs', [filter]))).toBe(
      JSON.stringify(expected),
    )
  const head = await askRpc<{ receiptsRoot: string }>(url, 'eth_getBlockByNumber', ['0x1', false])
  const receipts = await askRpc<unknown[]>(url, 'eth_getBlockReceipts', ['0x1'])
  expect(await receiptsRoot(receipts)).toBe(head.receiptsRoot)
})
