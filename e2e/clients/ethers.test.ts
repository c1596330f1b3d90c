// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Contract, FetchRequest, Interface, JsonRpcProvider, Network, Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { erc20Abi } from 'viem'
import { firstNodes, routeChain } from './sim-chain.ts'

const abi = new Interface(erc20Abi)

describe.each(firstNodes)('ethers, with one node of three %s', (firstNode) => {
  const connect = async () => {
    const routed = await routeChain(firstNode)
    let requests = 0
    const request = new FetchRequest(routed.url)
    request.processFunc = (_request, response) => {
      requests++
      return Promise.resolve(response)
    }
    const provider = new JsonRpcProvider(request, Network.from(1), {
      staticNetwork: true,
      cacheTimeout: -1,
      pollingInterval: 50,
    })
    const stack = new AsyncDisposableStack()
    stack.use(routed)
    stack.defer(() => {
      provider.destroy()
    })
    return { ...routed, stack, provider, requests: () => requests }
  }

  test('reads blocks, balances and contracts', async () => {
    const { stack, provider, chain } = await connect()
    await using _ = stack
    const [token = '', ...others] = chain.population.contracts
    expect(await provider.getBlockNumber()).toBe(chain.head)
    const block = await provider.getBlock(chain.head - 5)
    expect(block?.hash).toBe(chain.block(chain.head - 5).block.hash)
    expect((await provider.getBlock(block?.hash ?? ''))?.number).toBe(chain.head - 5)
    expect(await provider.getBalance(token, 100)).toBe(chain.state.balance(token, 100))
    expect(await provider.getTransaction(`0x${'cd'.repeat(32)}`)).toBeNull()
    const contract = new Contract(token, abi, provider)
    expect(await contract.getFunction('symbol')()).toBe('SIM')
    const holder = others[0] ?? ''
    const held: unknown = await contract.getFunction('balanceOf')(holder, { blockTag: 100 })
    expect(held).toBe(chain.state.balance(holder, 100))
  })

  test('simultaneous calls are one batch, and every item has its own answer', async () => {
    const { stack, provider, chain, requests } = await connect()
    await using _ = stack
    const addresses = Array.from({ length: 60 }, (_each, at) => `0x${String(at).padStart(40, '0')}`)
    const balances = await Promise.all(addresses.map((each) => provider.getBalance(each, 1000)))
    expect(balances).toEqual(addresses.map((each) => chain.state.balance(each, 1000)))
    expect(requests()).toBe(1)
  })

  test('logs', async () => {
    const { stack, provider, chain } = await connect()
    await using _ = stack
    const filter = {
      fromBlock: chain.head - 20,
      toBlock: chain.head,
      topics: [abi.getEvent('Transfer')?.topicHash ?? ''],
    }
    const logs = await provider.getLogs(filter)
    expect(logs.length).toBeGreaterThan(0)
    const [first] = logs
    const receipt = await provider.getTransactionReceipt(first?.transactionHash ?? '')
    expect(receipt?.logs.map(({ index }) => index)).toContain(first?.index)
    expect(abi.parseLog(first!)?.name).toBe('Transfer')
  })

  test("ethers recognises the node's errors", async () => {
    const { stack, provider, chain } = await connect()
    await using _ = stack
    const contract = new Contract(chain.population.revertingContract, abi, provider)
    await expect(contract.getFunction('symbol')()).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      reason: 'always',
    })
    await expect(provider.send('eth_getBalance', ['0xnonsense', 'latest'])).rejects.toMatchObject({
      error: { code: -32602, message: expect.stringContaining('invalid argument 0') },
    })
    await expect(provider.send('eth_getNoSuchThing', [])).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPERATION',
    })
  })

  test('a transaction reaches every healthy node, once, and is mined', async () => {
    const { stack, provider, chain, nodes } = await connect()
    await using _ = stack
    const wallet = new Wallet(`0x${'a2'.repeat(32)}`, provider)
    const sent = await wallet.sendTransaction({ to: `0x${'b0'.repeat(20)}`, value: 7n })
    await expect
      .poll(() => nodes.map(({ calls }) => calls.count('eth_sendRawTransaction')))
      .toEqual(nodes.map(() => 1))
    chain.mine()
    const receipt = await sent.wait()
    expect([receipt?.status, receipt?.blockNumber]).toEqual([1, chain.head])
    const to = wallet.address
    await expect(wallet.sendTransaction({ to, nonce: 0, gasLimit: 21_000 })).rejects.toMatchObject({
      code: 'NONCE_EXPIRED',
    })
    const value = 10n ** 30n
    await expect(wallet.sendTransaction({ to, value, gasLimit: 21_000 })).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    })
  })
})
