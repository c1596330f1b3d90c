// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { erc20Abi } from 'viem'
import { firstNodes, routeChain } from './sim-chain.ts'

describe.each(firstNodes)('web3.js, with one node of three %s', (firstNode) => {
  const connect = async () => {
    const routed = await routeChain(firstNode)
    return { ...routed, routed, web3: new Web3(routed.url) }
  }

  test('reads blocks, balances and contracts', async () => {
    const { routed, web3, chain } = await connect()
    await using _ = routed
    const [token = ''] = chain.population.contracts
    expect(await web3.eth.getBlockNumber()).toBe(BigInt(chain.head))
    const block = await web3.eth.getBlock(chain.head - 5)
    expect(block.hash).toBe(chain.block(chain.head - 5).block.hash)
    expect(await web3.eth.getBalance(token, 100)).toBe(chain.state.balance(token, 100))
    const contract = new web3.eth.Contract(erc20Abi, token)
    expect(await contract.methods['symbol']!().call()).toBe('SIM')
    expect(await contract.methods['decimals']!().call()).toBe(18n)
  })

  test('every item of a batch has its own answer or error', async () => {
    const { routed, web3, chain } = await connect()
    await using _ = routed
    const batch = new web3.BatchRequest()
    const heights = [0, 1, 2, 3].map((back) => `0x${(chain.head - back).toString(16)}`)
    for (const [id, height] of heights.entries())
      void batch.add({
        jsonrpc: '2.0',
        id,
        method: 'eth_getBlockByNumber',
        params: [height, false],
      })
    const wrong = {
      jsonrpc: '2.0' as const,
      id: 9,
      method: 'eth_getBalance',
      params: ['0x1', 'latest'],
    }
    const refused = batch.add(wrong).catch((error: unknown) => error)
    const answers = await batch.execute()
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 9])
    expect(answers.slice(0, 4).map(({ result }) => (result as { hash: string }).hash)).toEqual(
      heights.map((height) => chain.block(Number(height)).block.hash),
    )
    expect(answers[4]?.error).toMatchObject({ code: -32602 })
    expect(await refused).toMatchObject({ code: -32602 })
  })

  test('logs', async () => {
    const { routed, web3, chain } = await connect()
    await using _ = routed
    const fromBlock = chain.head - 20
    const logs = await web3.eth.getPastLogs({ fromBlock, toBlock: chain.head })
    const all = Array.from({ length: 21 }, (_each, at) => chain.block(fromBlock + at).receipts)
    expect(logs.map((log) => (typeof log === 'string' ? log : log.transactionHash))).toEqual(
      all.flat().flatMap((receipt) => receipt.logs.map((log) => log.transactionHash)),
    )
  })

  test("a revert has the node's reason", async () => {
    const { routed, web3, chain } = await connect()
    await using _ = routed
    const contract = new web3.eth.Contract(erc20Abi, chain.population.revertingContract)
    await expect(contract.methods['symbol']!().call()).rejects.toMatchObject({
      cause: { code: 3, message: 'execution reverted: always' },
    })
  })

  test('a signed transaction reaches every healthy node, once, and is mined', async () => {
    const { routed, web3, chain, nodes } = await connect()
    await using _ = routed
    const account = web3.eth.accounts.privateKeyToAccount(`0x${'a3'.repeat(32)}`)
    const { rawTransaction, transactionHash } = await account.signTransaction({
      chainId: 1,
      nonce: 0,
      to: `0x${'b0'.repeat(20)}`,
      value: 7,
      gas: 21_000,
      maxFeePerGas: 50_000_000_000,
      maxPriorityFeePerGas: 1_000_000_000,
    })
    web3.eth.transactionPollingInterval = 50
    const sending = web3.eth.sendSignedTransaction(rawTransaction)
    await new Promise<void>((resolve) => {
      void sending.once('transactionHash', () => resolve())
    })
    await expect
      .poll(() => nodes.map(({ calls }) => calls.count('eth_sendRawTransaction')))
      .toEqual(nodes.map(() => 1))
    chain.mine()
    const receipt = await sending
    expect([receipt.transactionHash, receipt.status]).toEqual([transactionHash, 1n])
  })
})
