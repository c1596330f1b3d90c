// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ContractFactory, JsonRpcProvider, Wallet } from 'ethers'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseEventLogs,
  publicActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { anvilKey } from '../anvil.ts'
import { type EthereumNode, ethereumNodes } from './ethereum-nodes.ts'
import { openGround } from './ground.ts'
import { routeJsonRpc } from './routed.ts'
import { tillAbi, tillInitCode } from './till-contract.ts'

const ground = await openGround()
const account = privateKeyToAccount(anvilKey)
const recipient = `0x${'b0'.repeat(20)}` as const

describe.each(Object.entries(ethereumNodes))('%s, through the router', (_name, start) => {
  let node: EthereumNode
  let url: string
  beforeAll(async () => {
    node = await start(ground, 'moving')
    url = await routeJsonRpc(ground, node.chain, node.name, node.url)
  })

  test('viem sends, deploys, pays, and finds its transactions', async () => {
    const chain = defineChain({
      id: node.chainId,
      name: node.name,
      nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    })
    const transport = http(url, { retryCount: 0 })
    const client = createWalletClient({ account, chain, transport, pollingInterval: 50 }).extend(
      publicActions,
    )
    expect(await client.getChainId()).toBe(node.chainId)

    const before = await client.getBalance({ address: recipient })
    const sent = await client.sendTransaction({ to: recipient, value: 7n })
    const { blockNumber, status } = await client.waitForTransactionReceipt({ hash: sent })
    expect(status).toBe('success')
    expect(await client.getBalance({ address: recipient, blockNumber })).toBe(before + 7n)
    const block = await client.getBlock({ blockNumber, includeTransactions: true })
    expect(block.transactions.map(({ hash }) => hash)).toContain(sent)

    const deployed = await client.waitForTransactionReceipt({
      hash: await client.deployContract({ abi: tillAbi, bytecode: tillInitCode }),
    })
    const till = deployed.contractAddress!
    const paid = await client.waitForTransactionReceipt({
      hash: await client.sendTransaction({ to: till, value: 42n }),
    })
    const read = { address: till, abi: tillAbi, functionName: 'last' } as const
    expect(await client.readContract(read)).toBe(42n)
    const logs = parseEventLogs({ abi: tillAbi, logs: paid.logs })
    expect(logs.map(({ args }) => args)).toEqual([{ amount: 42n }])
    const found = await client.getLogs({ event: tillAbi[0], fromBlock: 0n, address: till })
    expect(found.map(({ transactionHash }) => transactionHash)).toEqual([paid.transactionHash])
    const proof = await client.getProof({ address: till, storageKeys: [`0x${'0'.repeat(64)}`] })
    expect(proof.storageProof.map(({ value }) => value)).toEqual([42n])
    const fees = await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })
    expect(fees.baseFeePerGas.length).toBe(3)
  })

  test('viem sends JSON-RPC batches', async () => {
    const transport = http(url, { retryCount: 0, batch: true })
    const client = createPublicClient({ transport })
    const heights = Array.from({ length: 60 }, (_each, at) => BigInt(at % 3))
    const blocks = await Promise.all(heights.map((blockNumber) => client.getBlock({ blockNumber })))
    expect(blocks.map(({ number }) => number)).toEqual(heights)
  })

  test('ethers finds the network, deploys, pays and queries', async () => {
    const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 50, cacheTimeout: -1 })
    try {
      expect((await provider.getNetwork()).chainId).toBe(BigInt(node.chainId))
      const wallet = new Wallet(anvilKey, provider)
      const factory = new ContractFactory(tillAbi, tillInitCode, wallet)
      const till = await factory.deploy()
      await till.waitForDeployment()
      const address = await till.getAddress()
      const sent = await wallet.sendTransaction({ to: address, value: 5n })
      const receipt = await sent.wait()
      expect(receipt?.status).toBe(1)
      expect(await till.getFunction('last').staticCall()).toBe(5n)
      const found = await till.queryFilter('Paid', 0)
      expect(found.map(({ transactionHash }) => transactionHash)).toEqual([sent.hash])
      const refused = wallet.sendTransaction({ to: address, value: 1n, nonce: 0 })
      await expect(refused).rejects.toMatchObject({ code: 'NONCE_EXPIRED' })
    } finally {
      provider.destroy()
    }
  })

  test('web3.js deploys, pays and reads past events', async () => {
    const web3 = new Web3(url)
    web3.eth.transactionPollingInterval = 50
    const [{ address } = { address: '' }] = web3.eth.accounts.wallet.add(anvilKey)
    expect(await web3.eth.getChainId()).toBe(BigInt(node.chainId))
    const contract = new web3.eth.Contract(tillAbi)
    const till = await contract
      .deploy({ data: tillInitCode })
      .send({ from: address, gas: '1000000' })
    const to = till.options.address!
    const receipt = await web3.eth.sendTransaction({ from: address, to, value: 9, gas: 1_000_000 })
    expect(receipt.status).toBe(1n)
    expect(await till.methods.last().call()).toBe(9n)
    const events = await till.getPastEvents('Paid', { fromBlock: 0 })
    expect(events).toMatchObject([{ transactionHash: receipt.transactionHash }])
  })
})
