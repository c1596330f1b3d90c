// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { FetchRequest, formatEther, JsonRpcProvider, Network, Wallet } from 'ethers'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'
import { anvilKey } from '../nodes/anvil.ts'
import { type Screen, short } from './screen.ts'
import type { Devnet } from './devnet.ts'

const minedTimeoutMs = 10_000
const widths = [6, 24, 36, 0]

/** viem and ethers use the router like a node. @returns the number of their HTTP requests */
export async function tourClients(
  screen: Screen,
  url: string,
  devnet: Devnet,
  signal: AbortSignal,
): Promise<number> {
  let requests = 0
  let served = ''
  const note = (headers: { get(name: string): string | null }) => {
    requests++
    const retries = Number(headers.get('rpc-retries') ?? 0)
    served = `${headers.get('rpc-provider-address') ?? '?'}${retries > 0 ? `, retries: ${retries}` : ''}`
  }
  const show = (client: string, call: string, result: string, by = served) =>
    screen.row([client, call, result, by], widths)

  const viem = createPublicClient({
    chain: mainnet,
    transport: http(url, {
      retryCount: 0,
      onFetchResponse: (response) => note(response.headers),
    }),
    cacheTime: 0,
  })
  const fetchRequest = new FetchRequest(url)
  fetchRequest.processFunc = (_request, response) => {
    note({ get: (name) => response.headers[name] ?? null })
    return Promise.resolve(response)
  }
  const ethers = new JsonRpcProvider(fetchRequest, Network.from(1), { staticNetwork: true })
  const wallet = new Wallet(anvilKey, ethers)

  try {
    screen.row(['client', 'call', 'answer', 'answered by'], widths)
    show('viem', 'getBlockNumber', String(await viem.getBlockNumber()))
    const block = await viem.getBlock({ blockNumber: 10n })
    show('viem', 'getBlock 10', short(block.hash))
    if (block.hash !== devnet.hashOf(10)) throw new Error('block 10 is not the block of the nodes')
    const balance = await ethers.getBalance(wallet.address)
    show('ethers', 'getBalance', `${formatEther(balance)} ETH of ${short(wallet.address)}`)
    const fees = await viem.getFeeHistory({ blockCount: 4, rewardPercentiles: [50] })
    show('viem', 'getFeeHistory', `${fees.baseFeePerGas.at(-1)} wei next base fee`)
    const to = `0x${'b0'.repeat(20)}` as const
    const { hash, nodes } = await devnet.transact(signal, async () => {
      const sent = await wallet.sendTransaction({ to, value: 1_500_000_000_000_000_000n })
      return sent.hash
    })
    show('ethers', 'sendTransaction', `${short(hash)}, waits at ${nodes} of ${nodes} nodes`, served)
    const receipt = await viem.waitForTransactionReceipt({
      hash: hash as `0x${string}`,
      pollingInterval: 200,
      timeout: minedTimeoutMs,
    })
    show('viem', 'getTransactionReceipt', `${receipt.status} in block ${receipt.blockNumber}`)
    await devnet.settled()
    const received = await viem.getBalance({ address: to, blockNumber: receipt.blockNumber })
    show('viem', 'getBalance', `${formatEther(received)} ETH of ${short(to)}`)
    const refusal = await ethers
      .send('eth_getBalance', ['0xnonsense', 'latest'])
      .then(() => 'no error', nodeMessage)
    show('ethers', 'a wrong parameter', refusal)
  } finally {
    ethers.destroy()
  }
  return requests
}

/** The node's own message inside an error of ethers. */
function nodeMessage(error: unknown): string {
  const {
    error: inner,
    info,
    message,
  } = error as {
    error?: { message?: string }
    info?: { error?: { message?: string } }
    message: string
  }
  return `"${(inner?.message ?? info?.error?.message ?? message).slice(0, 60)}"`
}
