// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Account, Aptos, AptosConfig, Network } from '@aptos-labs/ts-sdk'
import { expect, test } from 'vitest'
import { serveRouter } from '../../served/served-router.ts'
import { serveNode } from '../served-node.ts'
import { MoveChain } from './move-chain.ts'
import { moveNode } from './move-node.ts'

/** A router whose upstream URLs end in `path`: `/v1`, or nothing. */
async function routed(chain: MoveChain, path: string) {
  const stack = new AsyncDisposableStack()
  const nodes = await Promise.all(
    ['a', 'b'].map(async (name) => stack.use(await serveNode(() => moveNode(chain), { name }))),
  )
  const router = stack.use(
    await serveRouter({
      chainId: 'MOVECHAIN',
      apiInterface: 'rest',
      primaries: nodes.map(({ name, url }) => ({ name, url: url + path })),
      settings: { 'skip-websocket-verification': true },
    }),
  )
  return { nodes, url: router.url, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test("the chain's own SDK reads through the router, and sends a transaction", async () => {
  const chain = new MoveChain()
  // The SDK adds /v1 itself.
  await using routing = await routed(chain, '')
  const aptos = new Aptos(
    new AptosConfig({ network: Network.CUSTOM, fullnode: `${routing.url}/v1` }),
  )
  const ledger = await aptos.getLedgerInfo()
  expect(ledger).toMatchObject({ chain_id: 1, block_height: String(chain.head) })
  const block = await aptos.getBlockByHeight({
    blockHeight: chain.head - 5,
    options: { withTransactions: true },
  })
  expect(block.transactions).toHaveLength(10)

  const [sender, recipient] = [Account.generate(), Account.generate()]
  const before = await aptos.getAccountAPTAmount({ accountAddress: sender.accountAddress })
  const transaction = await aptos.transferCoinTransaction({
    sender: sender.accountAddress,
    recipient: recipient.accountAddress,
    amount: 5,
    options: { maxGasAmount: 200, gasUnitPrice: 100 },
  })
  const pending = await aptos.signAndSubmitTransaction({ signer: sender, transaction })
  expect(await aptos.getTransactionByHash({ transactionHash: pending.hash })).toMatchObject({
    type: 'pending_transaction',
  })
  chain.mine()
  const done = await aptos.waitForTransaction({ transactionHash: pending.hash })
  expect(done).toMatchObject({ success: true, sender: sender.accountAddress.toString() })
  const after = await aptos.getAccountAPTAmount({ accountAddress: sender.accountAddress })
  expect(after).toBeLessThan(before)
})

test('paths without /v1 reach upstreams whose URL ends in it', async () => {
  const chain = new MoveChain()
  await using routing = await routed(chain, '/v1')
  const get = async (path: string) => {
    const response = await fetch(routing.url + path)
    const body = (await response.json()) as Record<string, unknown>
    return { status: response.status, headers: response.headers, body }
  }
  const ledger = await get('/')
  expect(ledger.body).toMatchObject({ chain_id: 1 })
  expect(ledger.headers.get('x-aptos-block-height')).toBe(String(chain.head))
  expect((await get('/blocks/by_height/7')).body).toMatchObject({ block_height: '7' })
  expect((await get('/transactions/by_version/75')).body).toMatchObject({ version: '75' })
  expect((await get('/v1/blocks/by_height/7')).status).toBe(404)
  expect((await get(`/blocks/by_height/${chain.head + 9}`)).body).toMatchObject({
    error_code: 'block_not_found',
  })
})
