// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { DirectSecp256k1HdWallet } from '@cosmjs/proto-signing'
import { GasPrice, SigningStargateClient } from '@cosmjs/stargate'
import { Comet38Client, toRfc3339WithNanoseconds } from '@cosmjs/tendermint-rpc'
import { beforeAll, expect, test } from 'vitest'
import { metricValues } from '../../demo/metrics-page.ts'
import { waitUntil } from '../../processes/eventually.ts'
import { hubAccounts, hubChainId, hubDenomination, startHub } from '../hub-chain.ts'
import type { WasmdNode } from '../wasmd.ts'
import { Gathered } from './gathered.ts'
import { openGround } from './ground.ts'
import { type Routed, routeTo } from './routed.ts'

const ground = await openGround()
const blockMs = 700
const recipient = 'wasm1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqel32wk'

let followers: WasmdNode[]
let routed: Routed
let url: string
beforeAll(async () => {
  // The validator makes the blocks and is no upstream, so that any upstream may die.
  const validator = await startHub(ground, { name: 'hub', blockMs })
  followers = await Promise.all(
    ['hub-a', 'hub-b'].map((name) => startHub(ground, { name, blockMs, peer: validator })),
  )
  const nodes = followers.map(({ name, tendermintUrl, webSocketUrl }) => ({
    name,
    urls: [{ url: tendermintUrl }, { url: webSocketUrl }],
  }))
  const leg = { chainId: 'HUBCHAIN', apiInterface: 'tendermintrpc', nodes } as const
  routed = await routeTo(ground, [leg], { 'skip-websocket-verification': false })
  url = routed.urls[0]!.replace('http', 'ws')
})

test('cosmjs sends calls over the connection', async () => {
  const client = await Comet38Client.connect(url)
  expect((await client.status()).nodeInfo.network).toBe(hubChainId)
  const heights = Array.from({ length: 30 }, (_each, at) => 1 + (at % 10))
  const blocks = await Promise.all(heights.map((height) => client.block(height)))
  expect(blocks.map(({ block }) => block.header.height)).toEqual(heights)
  await expect(client.block(99_999_999)).rejects.toThrow('must be less than or equal')
  client.disconnect()
})

test('cosmjs receives blocks, headers and transactions, even after the subscribed node dies', async () => {
  const client = await Comet38Client.connect(url)
  const [blocks, headers, transactions] = [
    new Gathered<{ height: number; time: string }>(),
    new Gathered<number>(),
    new Gathered<Uint8Array>(),
  ]
  const failures: unknown[] = []
  const error = (cause: unknown) => failures.push(cause)
  client.subscribeNewBlock().subscribe({
    next: ({ header: { height, time } }) =>
      blocks.add({ height, time: toRfc3339WithNanoseconds(time) }),
    error,
  })
  client.subscribeNewBlockHeader().subscribe({ next: ({ height }) => headers.add(height), error })
  client.subscribeTx().subscribe({ next: ({ hash }) => transactions.add(hash), error })
  await blocks.first(2)

  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(hubAccounts.user, { prefix: 'wasm' })
  const settings = {
    gasPrice: GasPrice.fromString(`0${hubDenomination}`),
    broadcastPollIntervalMs: 100,
  }
  const signer = await SigningStargateClient.connectWithSigner(routed.urls[0]!, wallet, settings)
  const [{ address } = { address: '' }] = await wallet.getAccounts()
  const sent: string[] = []
  for (const amount of ['1', '2', '3']) {
    if (amount === '2') {
      const source = await sourceOf()
      followers.find(({ name }) => name === source)?.child.kill('SIGKILL')
    }
    const coins = [{ denom: hubDenomination, amount }]
    const { code, transactionHash } = await signer.sendTokens(address, recipient, coins, 'auto')
    expect(code).toBe(0)
    sent.push(transactionHash)
  }
  const hashes = await transactions.first(3)
  expect(hashes.map((hash) => Buffer.from(hash).toString('hex').toUpperCase())).toEqual(sent)
  const seen = blocks.all.length
  const received = await blocks.first(seen + 3)
  const [{ height: first } = { height: 0 }] = received
  expect(received.map(({ height }) => height)).toEqual(received.map((_each, at) => first + at))
  const [header = 0] = headers.all
  expect(headers.all).toEqual(headers.all.map((_each, at) => header + at))
  for (const { height, time } of received) {
    const { block } = await client.block(height)
    expect(toRfc3339WithNanoseconds(block.header.time)).toBe(time)
  }
  expect(failures).toEqual([])
  signer.disconnect()
  client.disconnect()
})

/** The node of the router's subscriptions. */
async function sourceOf(): Promise<string> {
  let source = ''
  await waitUntil('the router subscribes', 60_000, ground.signal, async () => {
    const page = await (await fetch(`${routed.program.adminUrl}/metrics`)).text()
    const values = metricValues(page, 'router_upstream_subscriptions')
    source = values.find(({ value }) => value > 0)?.labels['upstream'] ?? ''
    return source !== ''
  })
  return source
}
