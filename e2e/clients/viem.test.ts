// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  erc20Abi,
  getAbiItem,
  http,
  InvalidParamsRpcError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { firstNodes, routeChain } from './sim-chain.ts'

const account = privateKeyToAccount(`0x${'a1'.repeat(32)}`)

describe.each(firstNodes)('viem, with one node of three %s', (firstNode) => {
  const connect = async (batch = false) => {
    const routed = await routeChain(firstNode)
    let requests = 0
    const transport = http(routed.url, {
      batch,
      retryCount: 0,
      onFetchRequest: () => void requests++,
    })
    const client = createPublicClient({ chain: mainnet, transport, cacheTime: 0 })
    const wallet = createWalletClient({ account, chain: mainnet, transport })
    return { ...routed, routed, client, wallet, requests: () => requests }
  }

  test('reads blocks, balances and contracts', async () => {
    const { routed, client, chain } = await connect()
    await using _ = routed
    const [token = '0x'] = chain.population.contracts
    const { head } = chain
    expect(await client.getChainId()).toBe(1)
    expect(await client.getBlockNumber()).toBe(BigInt(head))
    const block = await client.getBlock({
      blockNumber: BigInt(head - 5),
      includeTransactions: true,
    })
    expect(block.hash).toBe(chain.block(head - 5).block.hash)
    expect((await client.getBlock({ blockHash: block.hash })).parentHash).toBe(block.parentHash)
    const balance = await client.getBalance({ address: account.address, blockNumber: 100n })
    expect(balance).toBe(chain.state.balance(account.address, 100))
    const read = { address: token, abi: erc20Abi } as const
    expect(await client.readContract({ ...read, functionName: 'symbol' })).toBe('SIM')
    expect(await client.readContract({ ...read, functionName: 'decimals' })).toBe(18)
  })

  test('a batch is one request, and every item has its own answer', async () => {
    const { routed, client, chain, requests } = await connect(true)
    await using _ = routed
    const heights = Array.from({ length: 40 }, (_each, at) => chain.head - at)
    const blocks = await Promise.all(
      heights.map((height) => client.getBlock({ blockNumber: BigInt(height) })),
    )
    expect(blocks.map(({ hash }) => hash)).toEqual(
      heights.map((height) => chain.block(height).block.hash),
    )
    expect(requests()).toBe(1)
  })

  test('logs', async () => {
    const { routed, client, chain } = await connect()
    await using _ = routed
    const from = chain.head - 20
    const logs = await client.getLogs({
      event: getAbiItem({ abi: erc20Abi, name: 'Transfer' }),
      fromBlock: BigInt(from),
      toBlock: BigInt(chain.head),
    })
    const transfers = Array.from({ length: 21 }, (_each, at) => chain.block(from + at).receipts)
      .flat()
      .flatMap((receipt) => receipt.logs)
      .filter(({ topics }) => topics[0]?.startsWith('0xddf252ad'))
    expect(logs.length).toBeGreaterThan(0)
    expect(logs.map(({ blockHash, logIndex }) => [blockHash, logIndex])).toEqual(
      transfers.map(({ blockHash, logIndex }) => [blockHash, Number(logIndex)]),
    )
    expect(logs[0]?.args.value).toBe(BigInt(transfers[0]?.data ?? 0))
  })

  test("viem gets the node's errors: a revert with its reason, wrong input with its code", async () => {
    const { routed, client, chain } = await connect()
    await using _ = routed
    const reverted = await client
      .readContract({
        address: chain.population.revertingContract,
        abi: erc20Abi,
        functionName: 'symbol',
      })
      .catch((error: unknown) => error)
    const cause = (reverted as BaseError).walk(
      (each) => each instanceof ContractFunctionRevertedError,
    )
    expect((cause as ContractFunctionRevertedError).reason).toBe('always')
    const wrong = client.request({ method: 'eth_getBalance', params: ['0xnonsense', 'latest'] })
    await expect(wrong).rejects.toBeInstanceOf(InvalidParamsRpcError)
  })

  test('a transaction reaches every healthy node, once, and is mined', async () => {
    const { routed, client, wallet, chain, nodes } = await connect()
    await using _ = routed
    const hash = await wallet.sendTransaction({ to: `0x${'b0'.repeat(20)}`, value: 7n })
    await expect
      .poll(() => nodes.map(({ calls }) => calls.count('eth_sendRawTransaction')))
      .toEqual(nodes.map(() => 1))
    chain.mine()
    const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    expect([receipt.status, receipt.blockNumber]).toEqual(['success', BigInt(chain.head)])
    const spent = wallet.sendTransaction({ to: account.address, nonce: 0, gas: 21_000n })
    await expect(spent).rejects.toThrow(/nonce too low/i)
  })
})
