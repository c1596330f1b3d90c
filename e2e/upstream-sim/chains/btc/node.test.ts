// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import Client from 'bitcoin-core'
import { expect, test } from 'vitest'
import { serveRouter } from '../../../served/served-router.ts'
import { serveNode } from '../served-node.ts'
import { BitcoinChain } from './chain.ts'
import { BitcoinNode } from './node.ts'
import { hash256, shownHash } from './transaction.ts'

const someTx =
  '020000000001010101010101010101010101010101010101010101010101010101010101010101000000000000000000' +
  '01e803000000000000160014aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa0101ff00000000'

async function routed(chain: BitcoinChain) {
  const stack = new AsyncDisposableStack()
  const nodes = await Promise.all(
    ['a', 'b'].map(async (name) =>
      stack.use(await serveNode((faults) => new BitcoinNode(chain, faults), { name })),
    ),
  )
  const router = stack.use(await serveRouter({ chainId: 'BTC', primaries: nodes }))
  const client = new Client({ host: router.url, username: 'u', password: 'p' })
  const ask = (method: string, ...parameters: unknown[]) => client.command(method, ...parameters)
  return { nodes, ask, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('its blocks are Bitcoin blocks from the first on', () => {
  const chain = new BitcoinChain({ head: 50 })
  expect(chain.block(0).hash).toBe(
    '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  )
  expect(new BitcoinChain({ network: 'regtest' }).block(0).hash).toBe(
    '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  )
  for (let height = 1; height <= 50; height++) {
    const { header, hash } = chain.block(height)
    expect(shownHash(header.subarray(4, 36))).toBe(chain.block(height - 1).hash)
    expect(shownHash(hash256(header))).toBe(hash)
  }
})

test('a reorganisation replaces blocks, and they are still found', () => {
  const chain = new BitcoinChain({ head: 50 })
  const old = chain.block(49)
  chain.reorg(3)
  chain.mine()
  expect(chain.block(49).hash).not.toBe(old.hash)
  expect(chain.block(47).hash).toBe(new BitcoinChain({ head: 50 }).block(47).hash)
  expect(chain.find(old.hash)).toBe(old)
})

test("Bitcoin's own client reads blocks and sends a transaction through the router", async () => {
  const chain = new BitcoinChain({ head: 120 })
  await using routing = await routed(chain)
  const { ask } = routing
  expect(await ask('getblockcount')).toBe(120)
  const best = (await ask('getbestblockhash')) as string
  expect(await ask('getblockhash', 120)).toBe(best)
  const block = await ask('getblock', best, 2)
  expect(block).toMatchObject({ hash: best, height: 120, confirmations: 1 })
  expect(await ask('getblock', best, 0)).toMatch(/^[0-9a-f]{160,}$/)
  expect(await ask('getblockheader', best)).toMatchObject({ previousblockhash: expect.any(String) })

  const txid = (await ask('sendrawtransaction', someTx)) as string
  expect(await ask('decoderawtransaction', someTx)).toMatchObject({ txid, locktime: 0 })
  expect(await ask('getrawmempool')).toEqual([txid])
  chain.mine()
  expect(await ask('getrawtransaction', txid, true)).toMatchObject({ txid, confirmations: 1 })
  // Sent again it gets its id, though both nodes say that they have it.
  expect(await ask('sendrawtransaction', someTx)).toBe(txid)
  await expect(ask('getrawtransaction', 'ab'.repeat(32))).rejects.toThrow(/No such mempool/)
})

test('a node that answers about another block is not believed', async () => {
  const chain = new BitcoinChain({ head: 120 })
  await using routing = await routed(chain)
  const { hash } = chain.block(100)
  routing.nodes[0]?.faults.add({ kind: 'wrong-block' }, { methods: ['getblock'] })
  for (let each = 0; each < 2; each++)
    expect(await routing.ask('getblock', hash, 1)).toMatchObject({ hash, height: 100 })
})
