// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Contract, Interface, JsonRpcProvider, Network, Wallet, WebSocketProvider } from 'ethers'
import {
  type BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  http,
  webSocket,
} from 'viem'
import { mainnet } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Devnet } from '../demo/devnet.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { startAnvil } from '../nodes/anvil.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter } from '../served/served-router.ts'

/** Public key of the first account of every anvil. */
const richKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const vault = `0x${'7a'.repeat(20)}` as const
const vaultAbi = [
  { type: 'function', name: 'take', inputs: [], outputs: [], stateMutability: 'nonpayable' },
  { type: 'error', name: 'Locked', inputs: [{ name: 'until', type: 'uint256' }] },
] as const
const quick = { staticNetwork: true, pollingInterval: 100 }
const lockedData = new Interface(vaultAbi).encodeErrorResult('Locked', [77n]).slice(2)

/** The code of a contract that reverts every call with these bytes. */
function revertingCode(dataHex: string): string {
  const length = (dataHex.length / 2).toString(16).padStart(2, '0')
  return `0x60${length}600c60003960${length}6000fd${dataHex}`
}

const stack = new AsyncDisposableStack()
const stop = new AbortController()
const { signal } = stop
let devnet: Devnet
let url: string
beforeAll(async () => {
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  devnet = await Devnet.start(['one', 'two'], await freePorts(2), { children, signal })
  for (const node of devnet.nodes)
    await askRpc(node.url, 'anvil_setCode', [vault, revertingCode(lockedData)])
  const router = stack.use(await serveRouter({ primaries: devnet.nodes }))
  url = router.url
})
afterAll(async () => {
  stop.abort()
  await stack.disposeAsync()
})

test('viem and ethers decode the custom error of a contract', async () => {
  const viem = createPublicClient({ chain: mainnet, transport: http(url, { retryCount: 0 }) })
  const reverted: unknown = await viem
    .simulateContract({ address: vault, abi: vaultAbi, functionName: 'take' })
    .catch((error: unknown) => error)
  const cause = (reverted as BaseError).walk(
    (each) => each instanceof ContractFunctionRevertedError,
  ) as ContractFunctionRevertedError
  expect([cause.data?.errorName, cause.data?.args]).toEqual(['Locked', [77n]])

  const provider = new JsonRpcProvider(url, Network.from(1), quick)
  try {
    const contract = new Contract(vault, new Interface(vaultAbi), provider)
    await expect(contract.getFunction('take').staticCall()).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      revert: { name: 'Locked', args: [77n] },
    })
  } finally {
    provider.destroy()
  }
})

test('`anvil_mine` is for operators; if an endpoint names it, one node mines', async () => {
  await expect(askRpc(url, 'anvil_mine', ['0x5'])).rejects.toThrow('is for operators of a node')
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const [port = 0] = await freePorts(1)
  const options = { name: 'alone', port, chainId: 1, children, signal }
  const node = await startAnvil(options)
  await using router = await serveRouter({
    // Two URLs of one node, so that a second request would show.
    primaries: [{ ...node, nextUrl: node.url.replace('127.0.0.1', 'localhost') }],
    endpoint: { 'allowed-methods': ['*', 'anvil_*'] },
  })
  const before = Number(await askRpc(node.url, 'eth_blockNumber'))
  await askRpc(router.url, 'anvil_mine', ['0x258'])
  expect(Number(await askRpc(node.url, 'eth_blockNumber')) - before).toBe(600)
})

test('a transaction reaches every node, and both mine the same block', async () => {
  const provider = new JsonRpcProvider(url, Network.from(1), quick)
  try {
    const wallet = new Wallet(richKey, provider)
    const { hash, nodes } = await devnet.transact(signal, async () => {
      const sent = await wallet.sendTransaction({ to: `0x${'b0'.repeat(20)}`, value: 5n })
      return sent.hash
    })
    expect(nodes).toBe(2)
    const producing = devnet.run(signal)
    const receipt = await provider.waitForTransaction(hash)
    expect(receipt?.status).toBe(1)
    const mined = await Promise.all(
      devnet.nodes.map((node) => askRpc(node.url, 'eth_getTransactionReceipt', [hash])),
    )
    expect(mined[0]).toEqual(mined[1])
    expect(mined[0]).toMatchObject({ blockHash: receipt?.blockHash })
    stop.abort()
    await producing
  } finally {
    provider.destroy()
  }
})

test('WebSocket clients call, send and receive heads, even after a node dies', async () => {
  await using router = await serveRouter({ primaries: devnet.nodes, sockets: true })
  const transport = webSocket(router.socketUrl, { reconnect: false, retryCount: 0 })
  const client = createPublicClient({ chain: mainnet, transport })
  const provider = new WebSocketProvider(router.socketUrl, Network.from(1))
  const running = new AbortController()
  const heads: { readonly number: string; readonly hash: string }[] = []
  const errors: unknown[] = []
  const { unsubscribe } = await client.transport.subscribe({
    params: ['newHeads'],
    onData: ({ result }) => void heads.push(result as (typeof heads)[number]),
    onError: (error) => void errors.push(error),
  })
  try {
    const to = `0x${'9b'.repeat(20)}` as const
    const wallet = new Wallet(richKey, provider)
    const { hash } = await devnet.transact(running.signal, async () => {
      const sent = await wallet.sendTransaction({ to, value: 5n })
      return sent.hash
    })
    const producing = devnet.run(running.signal)
    expect((await provider.waitForTransaction(hash))?.status).toBe(1)
    expect(await client.getBalance({ address: to })).toBe(5n)
    await expect.poll(() => heads.length).toBeGreaterThan(1)
    await devnet.kill('one', 3)
    const killedAt = heads.length
    await expect.poll(() => heads.length).toBeGreaterThan(killedAt + 5)
    running.abort()
    await producing
    const heights = heads.map(({ number }) => Number(number))
    expect(heights).toEqual(heights.map((_, at) => (heights[0] as number) + at))
    for (const { number, hash } of heads) expect(hash).toBe(devnet.hashOf(Number(number)))
    expect(errors).toEqual([])
  } finally {
    running.abort()
    await unsubscribe()
    await provider.destroy()
    ;(await client.transport.getRpcClient()).close()
  }
}, 90_000)
