// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { DirectSecp256k1HdWallet } from '@cosmjs/proto-signing'
import { GasPrice, SigningStargateClient, StargateClient } from '@cosmjs/stargate'
import {
  Comet38Client,
  connectComet,
  HttpBatchClient,
  Tendermint37Client,
} from '@cosmjs/tendermint-rpc'
import { beforeAll, expect, test } from 'vitest'
import { hubAccounts, hubChainId, hubDenomination, startHub } from '../hub-chain.ts'
import { runTool } from '../../processes/run-tool.ts'
import { heightOf, type WasmdNode } from '../wasmd.ts'
import type { Leg } from '../../processes/router-config.ts'
import { openGround } from './ground.ts'
import { type HubFacts, hubFacts } from './hub-facts.ts'
import { routeTo } from './routed.ts'

const ground = await openGround()
const blockMs = 700

let validator: WasmdNode
let follower: WasmdNode
let facts: HubFacts
let restUrl: string
let tendermintUrl: string
let grpcAddress: string
beforeAll(async () => {
  validator = await startHub(ground, { name: 'hub-a', blockMs })
  follower = await startHub(ground, { name: 'hub-b', blockMs, peer: validator })
  facts = await hubFacts(validator)
  const leg = (apiInterface: Leg['apiInterface'], urlOf: (node: WasmdNode) => string): Leg => ({
    chainId: 'HUBCHAIN',
    apiInterface,
    nodes: [validator, follower].map((node) => ({ name: node.name, urls: [{ url: urlOf(node) }] })),
  })
  const { urls } = await routeTo(ground, [
    leg('rest', (node) => node.restUrl),
    leg('tendermintrpc', (node) => node.tendermintUrl),
    leg('grpc', (node) => `grpc://${node.grpcAddress}`),
  ])
  ;[restUrl = '', tendermintUrl = ''] = urls
  grpcAddress = new URL(urls[2] ?? '').host
})

test('cosmjs reads blocks, transactions, validators and state over Tendermint RPC', async () => {
  const client = await connectComet(tendermintUrl)
  const status = await client.status()
  expect(status.nodeInfo.network).toBe(hubChainId)
  const { block, blockId } = await client.block(3)
  expect(block.header.height).toBe(3)
  const { txs } = await client.txSearchAll({ query: 'tx.height>0' })
  expect(txs.length).toBe(facts.transactions.length)
  const tx = await client.tx({ hash: txs[0]!.hash, prove: true })
  expect(tx.height).toBe(txs[0]!.height)
  const { validators } = await client.validatorsAll(2)
  expect(validators.length).toBe(1)
  const { results } = await client.blockResults(5)
  expect(results).toBeDefined()
  expect(blockId.hash.length).toBe(32)
  expect((await client.abciInfo()).lastBlockHeight).toBeGreaterThanOrEqual(facts.head)
  client.disconnect()
})

test('cosmjs sends batches', async () => {
  const client = Comet38Client.create(new HttpBatchClient(tendermintUrl, { dispatchInterval: 20 }))
  const heights = Array.from({ length: 30 }, (_each, at) => 1 + (at % 10))
  const blocks = await Promise.all(heights.map((height) => client.block(height)))
  expect(blocks.map(({ block }) => block.header.height)).toEqual(heights)
})

test.each(['http', 'ws'])(
  'the Tendermint 0.37 client of cosmjs gets the answers of the node by %s',
  async (scheme) => {
    const connect = (url: string) => Tendermint37Client.connect(url.replace('http', scheme))
    const clients = await Promise.all([validator.tendermintUrl, tendermintUrl].map(connect))
    const requests: ((client: Tendermint37Client) => Promise<unknown>)[] = [
      async (client) => (await client.status()).nodeInfo.network,
      (client) => client.genesis(),
      (client) => client.health(),
      (client) => client.block(3),
      (client) => client.blockchain(1, 5),
      (client) => client.commit(4),
      (client) => client.validatorsAll(2),
      (client) => client.txSearchAll({ query: `tx.height<${facts.head}` }),
      (client) => client.blockSearch({ query: 'block.height=3' }),
      (client) => client.numUnconfirmedTxs(),
      (client) => client.block(-1),
      (client) => client.tx({ hash: new Uint8Array(32) }),
    ]
    for (const ask of requests) {
      const [straight, routed] = await Promise.allSettled(clients.map(ask))
      expect(routed).toEqual(straight)
    }
    for (const client of clients) client.disconnect()
  },
)

test('cosmjs signs and sends, and both nodes have it', async () => {
  const options = { prefix: 'wasm' }
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(hubAccounts.user, options)
  const gasPrice = GasPrice.fromString(`0${hubDenomination}`)
  const settings = { gasPrice, broadcastPollIntervalMs: 100 }
  const client = await SigningStargateClient.connectWithSigner(tendermintUrl, wallet, settings)
  const [{ address } = { address: '' }] = await wallet.getAccounts()
  expect(address).toBe(facts.user)
  const recipient = 'wasm1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqel32wk'
  const coins = [{ denom: hubDenomination, amount: '12' }]
  for (const expected of [12, 24]) {
    const sent = await client.sendTokens(address, recipient, coins, 'auto')
    expect(sent.code).toBe(0)
    // A node that is a block behind lacks the transaction, and returns an older sequence.
    for (const node of [validator, follower])
      await expect.poll(() => heightOf(node)).toBeGreaterThan(sent.height)
    expect((await client.getTx(sent.transactionHash))?.height).toBe(sent.height)
    const path = `/cosmos/bank/v1beta1/balances/${recipient}`
    const response = await fetch(`${restUrl}${path}`, {
      headers: { 'x-cosmos-block-height': String(sent.height) },
    })
    const balances = [{ denom: hubDenomination, amount: String(expected) }]
    expect(await response.json()).toMatchObject({ balances })
    expect(response.headers.get('grpc-metadata-x-cosmos-block-height')).toBe(String(sent.height))
  }
  client.disconnect()
})

test('grpcurl lists, describes and calls as at the node, and gets the same errors', async () => {
  const grpcurl = async (address: string, ...words: string[]) => {
    const [flags, rest] = [words.slice(0, -1), words.slice(-1)]
    return runTool(ground.cache.program('grpcurl'), ['-plaintext', ...flags, address, ...rest])
  }
  const listed = await grpcurl(grpcAddress, 'list')
  expect(listed.stderr).toBe('')
  expect(listed.stdout).toBe((await grpcurl(validator.grpcAddress, 'list')).stdout)
  const service = ['-plaintext', grpcAddress, 'describe', 'cosmos.bank.v1beta1.Query']
  const described = await runTool(ground.cache.program('grpcurl'), service)
  expect(described.stdout).toContain('rpc AllBalances')
  const data = ['-d', JSON.stringify({ address: facts.user })]
  const balances = await grpcurl(grpcAddress, ...data, 'cosmos.bank.v1beta1.Query/AllBalances')
  expect(JSON.parse(balances.stdout)).toMatchObject({ balances: [{ denom: hubDenomination }] })
  const wrong = ['-d', '{"address":"invalid"}', 'cosmos.bank.v1beta1.Query/AllBalances']
  const refused = await grpcurl(grpcAddress, ...wrong)
  expect(refused.stderr).toContain('Code: InvalidArgument')
  expect(refused.stderr).toBe((await grpcurl(validator.grpcAddress, ...wrong)).stderr)
})

test('clients of all three interfaces continue when a node dies', async () => {
  const client = await StargateClient.connect(tendermintUrl)
  for (let at = 0; at < 30; at++) {
    // The validator must survive, because it makes the blocks.
    if (at === 10) follower.child.kill('SIGKILL')
    expect(await client.getHeight()).toBeGreaterThan(0)
    const supply = await fetch(`${restUrl}/cosmos/bank/v1beta1/supply`)
    expect([supply.status, await supply.text()]).toEqual([200, expect.stringContaining('uatom')])
    if (at % 5 > 0) continue
    const query = [grpcAddress, 'cosmos.bank.v1beta1.Query/TotalSupply']
    const { code, stderr } = await runTool(ground.cache.program('grpcurl'), [
      '-plaintext',
      ...query,
    ])
    expect([code, stderr]).toEqual([0, ''])
  }
  client.disconnect()
  expect(await heightOf(validator)).toBeGreaterThan(facts.head)
})
