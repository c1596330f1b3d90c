// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { DirectSecp256k1HdWallet } from '@cosmjs/proto-signing'
import { SigningStargateClient, StargateClient } from '@cosmjs/stargate'
import { expect, test } from 'vitest'
import type { ApiInterface } from '../../../../proxy/config/types.ts'
import { serveRouter } from '../../../served/served-router.ts'
import type { FaultSwitch } from '../../faults.ts'
import { type ChainNode, serveNode } from '../served-node.ts'
import { HubChain } from './chain.ts'
import { HubRestNode } from './rest-node.ts'
import { HubTendermintNode } from './tendermint-node.ts'

async function routed(apiInterface: ApiInterface, make: (faults: FaultSwitch) => ChainNode) {
  const stack = new AsyncDisposableStack()
  const nodes = await Promise.all(
    ['a', 'b'].map(async (name) => stack.use(await serveNode(make, { name }))),
  )
  const settings = { 'skip-websocket-verification': true }
  const router = stack.use(
    await serveRouter({ chainId: 'HUBCHAIN', apiInterface, primaries: nodes, settings }),
  )
  return { nodes, router, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('cosmjs reads through the router, and sends a transaction', async () => {
  const chain = new HubChain()
  await using routing = await routed(
    'tendermintrpc',
    (faults) => new HubTendermintNode(chain, faults),
  )
  const client = await StargateClient.connect(routing.router.url)
  expect(await client.getChainId()).toBe('cosmoshub-4')
  expect(await client.getHeight()).toBe(chain.head)
  const block = await client.getBlock(chain.head - 3)
  expect(block.header.height).toBe(chain.head - 3)

  const wallet = await DirectSecp256k1HdWallet.generate(12)
  const [account] = await wallet.getAccounts()
  const from = account?.address ?? ''
  const before = await client.getBalance(from, 'uatom')
  const signer = await SigningStargateClient.connectWithSigner(routing.router.url, wallet)
  const to = 'cosmos1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrql8a'
  const fee = { amount: [{ denom: 'uatom', amount: '500' }], gas: '100000' }
  const coins = [{ denom: 'uatom', amount: '1234' }]
  const value = { fromAddress: from, toAddress: to, amount: coins }
  const message = { typeUrl: '/cosmos.bank.v1beta1.MsgSend', value }
  const hash = await signer.signAndBroadcastSync(from, [message], fee)
  expect(await client.getTx(hash)).toBeNull()
  chain.mine()
  expect(await client.getTx(hash)).toMatchObject({ code: 0, height: chain.head, hash })
  const after = await client.getBalance(from, 'uatom')
  expect(Number(before.amount) - Number(after.amount)).toBe(1234)
  expect(await client.getSequence(from)).toMatchObject({ sequence: 1 })
})

test('Tendermint RPC by its paths', async () => {
  const chain = new HubChain()
  await using routing = await routed(
    'tendermintrpc',
    (faults) => new HubTendermintNode(chain, faults),
  )
  const get = async (path: string) =>
    (await (await fetch(routing.router.url + path)).json()) as { result?: unknown; error?: unknown }
  const head = String(chain.head)
  expect((await get('/status')).result).toMatchObject({ sync_info: { latest_block_height: head } })
  const at = { block: { header: { height: '77' } } }
  expect((await get('/block?height=77')).result).toMatchObject(at)
  expect((await get('/block?height="77"')).result).toMatchObject(at)
})

test.each(['world', 'neutral'] as const)('REST of nodes with the names: %s', async (names) => {
  const chain = new HubChain()
  await using routing = await routed('rest', (faults) => new HubRestNode(chain, faults, { names }))
  const { pool, url } = routing.router
  // The router found the height by the names that the nodes have.
  expect(pool.tip).toBe(chain.head)
  const root = names === 'world' ? '/cosmos' : '/sdk'
  const other = names === 'world' ? '/sdk' : '/cosmos'
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })
  const supply = await get(`${root}/bank/v1beta1/supply`)
  expect(await supply.json()).toMatchObject({ supply: [{ denom: 'uatom' }] })
  const then = await get(`${root}/bank/v1beta1/supply`, { 'x-cosmos-block-height': '7' })
  expect(await then.json()).toMatchObject({ supply: [{ amount: '400000000000007' }] })
  const block = await get(`${root}/base/tendermint/v1beta1/blocks/9`)
  expect(await block.json()).toMatchObject({ block: { header: { height: '9' } } })
  expect((await get(`${other}/bank/v1beta1/supply`)).status).toBe(501)
})

test('a node that answers about another block is not believed', async () => {
  const chain = new HubChain()
  await using routing = await routed('rest', (faults) => new HubRestNode(chain, faults))
  routing.nodes[0]?.faults.add({ kind: 'wrong-block' })
  for (const height of ['100', '101', '102', '103']) {
    const path = `/cosmos/base/tendermint/v1beta1/blocks/${height}`
    const response = await fetch(routing.router.url + path)
    expect(await response.json()).toMatchObject({ block: { header: { height } } })
  }
})
