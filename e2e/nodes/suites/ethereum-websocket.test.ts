// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type BaseContract, ContractFactory, Wallet, WebSocketProvider } from 'ethers'
import { createWalletClient, defineChain, parseEventLogs, publicActions, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { anvilKey } from '../anvil.ts'
import { type EthereumNode, ethereumNodes } from './ethereum-nodes.ts'
import { Gathered } from './gathered.ts'
import { openGround } from './ground.ts'
import { routeTo } from './routed.ts'
import { tillAbi, tillInitCode } from './till-contract.ts'

const ground = await openGround()
const account = privateKeyToAccount(anvilKey)
const recipient = `0x${'b0'.repeat(20)}` as const

const pools = [['anvil'], ['geth']] as const
const nodes: Record<string, EthereumNode> = {}
beforeAll(async () => {
  for (const name of ['anvil', 'geth'] as const)
    nodes[name] = await ethereumNodes[name](ground, 'moving')
})

describe.each(pools)('%s, through the router by WebSocket', (name) => {
  let node: EthereumNode
  let url: string
  beforeAll(async () => {
    node = nodes[name]!
    const webSocketUrl = { ...node.url, url: node.webSocketUrl }
    const upstreams = [{ name: node.name, urls: [node.url, webSocketUrl] }]
    const routed = await routeTo(ground, [
      { chainId: node.chain, apiInterface: 'jsonrpc', nodes: upstreams },
    ])
    url = routed.urls[0]!.replace('http', 'ws')
  })

  test('viem calls, sends, and receives blocks, logs and pending transactions', async () => {
    const chain = defineChain({
      id: node.chainId,
      name: node.name,
      nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    })
    const transport = webSocket(url, { retryCount: 0, reconnect: false })
    const client = createWalletClient({ account, chain, transport, pollingInterval: 50 }).extend(
      publicActions,
    )
    await using stack = new AsyncDisposableStack()
    stack.defer(async () => (await client.transport.getRpcClient()).close())
    expect(await client.getChainId()).toBe(node.chainId)
    const heights = Array.from({ length: 50 }, (_each, at) => BigInt(at % 2))
    const requests = await Promise.all(
      heights.map((blockNumber) => client.getBlock({ blockNumber })),
    )
    expect(requests.map(({ number }) => number)).toEqual(heights)

    const heads = new Gathered<{ number: string; hash: string; parentHash: string }>()
    const onData = (data: { result?: unknown }) => heads.add(data.result as never)
    const subscribed = await client.transport.subscribe({ params: ['newHeads'], onData })
    const received = await heads.first(4)
    for (const [at, { number, hash, parentHash }] of received.entries()) {
      const before = received[at - 1]
      if (before)
        expect([parentHash, Number(number)]).toEqual([before.hash, Number(before.number) + 1])
      expect((await client.getBlock({ blockNumber: BigInt(number) })).hash).toBe(hash)
    }
    await subscribed.unsubscribe()

    const deployed = await client.waitForTransactionReceipt({
      hash: await client.deployContract({ abi: tillAbi, bytecode: tillInitCode }),
    })
    const till = deployed.contractAddress!
    const amounts = new Gathered<bigint>()
    stack.defer(
      client.watchEvent({
        address: till,
        event: tillAbi[0],
        onLogs: (logs) => {
          for (const { args } of parseEventLogs({ abi: tillAbi, logs })) amounts.add(args.amount)
        },
      }),
    )
    const pending = new Gathered<string>()
    stack.defer(
      client.watchPendingTransactions({ onTransactions: (all) => all.forEach(pending.add) }),
    )
    await client.getBlockNumber({ cacheTime: 0 })
    const sent: string[] = []
    for (const value of [3n, 1n, 2n]) {
      const hash = await client.sendTransaction({ to: till, value })
      sent.push(hash)
      await client.waitForTransactionReceipt({ hash })
    }
    expect(await amounts.first(3)).toEqual([3n, 1n, 2n])
    expect(await pending.first(3)).toEqual(sent)
  })

  test('ethers deploys, pays, and receives blocks, events and pending transactions', async () => {
    const provider = new WebSocketProvider(url, undefined, { cacheTimeout: -1 })
    await using stack = new AsyncDisposableStack()
    stack.defer(() => provider.destroy())
    expect((await provider.getNetwork()).chainId).toBe(BigInt(node.chainId))
    const heights = new Gathered<number>()
    await provider.on('block', heights.add)
    const wallet = new Wallet(anvilKey, provider)
    const till = await new ContractFactory(tillAbi, tillInitCode, wallet).deploy()
    await till.waitForDeployment()
    const amounts = new Gathered<bigint>()
    await (till as BaseContract).on('Paid', (amount: bigint) => amounts.add(amount))
    const pending = new Gathered<string>()
    await provider.on('pending', pending.add)
    const [first = 0, ...later] = await heights.first(3)
    expect(later).toEqual([first + 1, first + 2])
    const to = await till.getAddress()
    const sent: string[] = []
    for (const value of [5n, 4n]) {
      const transaction = await wallet.sendTransaction({ to, value })
      sent.push(transaction.hash)
      await transaction.wait()
    }
    expect(await amounts.first(2)).toEqual([5n, 4n])
    expect(await pending.first(2)).toEqual(sent)
    await expect(
      provider.send('eth_call', [{ to: recipient, data: '0x' }, '0xfffffff']),
    ).rejects.toThrow()
  })

  test('web3.js deploys, pays, and receives blocks, logs and pending transactions', async () => {
    const web3 = new Web3(url)
    await using stack = new AsyncDisposableStack()
    stack.defer(() => web3.provider?.disconnect())
    web3.eth.transactionPollingInterval = 50
    const [{ address } = { address: '' }] = web3.eth.accounts.wallet.add(anvilKey)
    expect(await web3.eth.getChainId()).toBe(BigInt(node.chainId))
    const contract = new web3.eth.Contract(tillAbi)
    const till = await contract
      .deploy({ data: tillInitCode })
      .send({ from: address, gas: '1000000' })
    const to = till.options.address!
    const heads = new Gathered<bigint>()
    const newHeads = await web3.eth.subscribe('newHeads')
    newHeads.on('data', ({ number }) => heads.add(BigInt(number!)))
    const paid = new Gathered<string>()
    const logs = await web3.eth.subscribe('logs', { address: to })
    logs.on('data', (log) => paid.add(String(log.transactionHash)))
    const pending = new Gathered<string>()
    const transactions = await web3.eth.subscribe('pendingTransactions')
    transactions.on('data', pending.add)
    const receipt = await web3.eth.sendTransaction({ from: address, to, value: 9, gas: 1_000_000 })
    expect(await paid.first(1)).toEqual([receipt.transactionHash])
    expect(await pending.first(1)).toEqual([receipt.transactionHash])
    const [first = 0n, ...later] = await heads.first(3)
    expect(later).toEqual([first + 1n, first + 2n])
    await newHeads.unsubscribe()
    await logs.unsubscribe()
    expect(await till.methods.last().call()).toBe(9n)
  })
})
