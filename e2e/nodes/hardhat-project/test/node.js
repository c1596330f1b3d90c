// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { network } from 'hardhat'
import { parseEther } from 'viem'

const { viem, networkHelpers } = await network.getOrCreate()
const client = await viem.getPublicClient()
const node = await viem.getTestClient()
const [sender, recipient] = await viem.getWalletClients()
const stranger = '0x00000000000000000000000000000000000000bb'
/** viem's client keeps the number of the latest block unless it is told not to. */
const height = async () => client.getBlockNumber({ cacheTime: 0 })
const pay = async (value) => sender.sendTransaction({ to: recipient.account.address, value })

describe('the node', () => {
  // Each test starts from the same state.
  beforeEach(async () => {
    await networkHelpers.loadFixture(atStart)
  })
  async function atStart() {
    await networkHelpers.mine()
  }

  it('mines as many blocks as it is told to', async () => {
    const before = await height()
    await networkHelpers.mine(1_000)
    assert.equal(await height(), before + 1_000n)
    const block = await client.getBlock()
    assert.equal(block.number, before + 1_000n)
  })

  it('mines up to a block', async () => {
    const target = (await height()) + 5n
    await networkHelpers.mineUpTo(target)
    assert.equal(await height(), target)
  })

  it('has blocks of the given interval', async () => {
    const before = await networkHelpers.time.latest()
    await networkHelpers.mine(11, { interval: 60 })
    const after = await networkHelpers.time.latest()
    assert.ok(after - before >= 600, `${after - before}`)
  })

  it('sets a balance, twice', async () => {
    for (const balance of [parseEther('3'), 1n]) {
      await networkHelpers.setBalance(stranger, balance)
      assert.equal(await client.getBalance({ address: stranger }), balance)
    }
  })

  it('sets the code of an account', async () => {
    assert.equal(await client.getCode({ address: stranger }), undefined)
    await networkHelpers.setCode(stranger, '0x602a60005260206000f3')
    assert.equal(await client.getCode({ address: stranger }), '0x602a60005260206000f3')
    const { data } = await client.call({ to: stranger })
    assert.equal(BigInt(data), 42n)
  })

  it('sets a nonce', async () => {
    assert.equal(await client.getTransactionCount({ address: stranger }), 0)
    await networkHelpers.setNonce(stranger, 9)
    assert.equal(await client.getTransactionCount({ address: stranger }), 9)
  })

  it('sets the base fee of the next block', async () => {
    const fee = 77_000_000_000n
    await networkHelpers.setNextBlockBaseFeePerGas(fee)
    const hash = await pay(1n)
    const receipt = await client.waitForTransactionReceipt({ hash })
    const block = await client.getBlock({ blockNumber: receipt.blockNumber })
    assert.equal(block.baseFeePerGas, fee)
    assert.ok(receipt.effectiveGasPrice >= fee)
  })

  it('counts the transactions of an account', async () => {
    const { address } = sender.account
    for (let at = 0; at < 5; at++) {
      const before = await client.getTransactionCount({ address })
      await client.waitForTransactionReceipt({ hash: await pay(1n) })
      assert.equal(await client.getTransactionCount({ address }), before + 1)
    }
  })

  it('pays, and both balances change', async () => {
    const of = async () =>
      Promise.all(
        [sender, recipient].map(async ({ account }) =>
          client.getBalance({ address: account.address }),
        ),
      )
    const before = await of()
    const { gasUsed, effectiveGasPrice } = await client.waitForTransactionReceipt({
      hash: await pay(parseEther('1')),
    })
    const after = await of()
    assert.equal(after[1] - before[1], parseEther('1'))
    assert.equal(before[0] - after[0], parseEther('1') + BigInt(gasUsed * effectiveGasPrice))
  })

  it('has a receipt, and a block that holds the transaction', async () => {
    const hash = await pay(2n)
    const receipt = await client.waitForTransactionReceipt({ hash })
    const block = await client.getBlock({ blockHash: receipt.blockHash })
    assert.deepEqual(block.transactions, [hash])
    assert.equal(block.number, receipt.blockNumber)
    assert.equal((await client.getTransaction({ hash })).value, 2n)
  })

  it('holds transactions back while it does not mine', async () => {
    const { address } = sender.account
    const mined = await client.getTransactionCount({ address })
    await node.setAutomine(false)
    try {
      const hash = await pay(3n)
      const count = async (blockTag) => client.getTransactionCount({ address, blockTag })
      assert.deepEqual([await count('latest'), await count('pending')], [mined, mined + 1])
      await assert.rejects(client.getTransactionReceipt({ hash }), /could not be found/)
      await networkHelpers.mine()
      assert.equal((await client.getTransactionReceipt({ hash })).status, 'success')
      assert.deepEqual([await count('latest'), await count('pending')], [mined + 1, mined + 1])
    } finally {
      await node.setAutomine(true)
    }
  })

  it('has other blocks of the same numbers after a revert', async () => {
    const snapshot = await networkHelpers.takeSnapshot()
    const number = (await height()) + 1n
    const hashes = new Set()
    for (let round = 0; round < 5; round++) {
      const hash = await pay(BigInt(100 + round))
      const { blockNumber } = await client.waitForTransactionReceipt({ hash })
      assert.equal(blockNumber, number)
      const block = await client.getBlock({ blockNumber })
      assert.deepEqual(block.transactions, [hash])
      assert.equal((await client.getBlock()).hash, block.hash)
      hashes.add(block.hash)
      await snapshot.restore()
      assert.equal(await height(), number - 1n)
      await assert.rejects(client.getBlock({ blockNumber }), /could not be found/)
      await assert.rejects(client.getTransactionReceipt({ hash }), /could not be found/)
    }
    assert.equal(hashes.size, 5)
  })
})
