// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { network } from 'hardhat'
import { getAddress, parseEther, parseEventLogs, zeroAddress } from 'viem'

const { viem, networkHelpers } = await network.getOrCreate()
const { loadFixture, time } = networkHelpers
const client = await viem.getPublicClient()
const [owner, alice, bob] = await viem.getWalletClients()
const day = 86_400n

const deploy = async () => viem.deployContract('Bank')
/** A node may mine a transaction after it has answered. */
const mined = async (sent) => client.waitForTransactionReceipt({ hash: await sent })

/** Alice has deposited two coins. */
async function deployAndDeposit() {
  const bank = await deploy()
  const sent = bank.write.deposit({ account: alice.account, value: parseEther('2') })
  return { bank, receipt: await mined(sent) }
}

describe('Bank', () => {
  it('belongs to its deployer', async () => {
    const bank = await loadFixture(deploy)
    assert.equal(await bank.read.owner(), getAddress(owner.account.address))
    assert.equal(await bank.read.lockSeconds(), day)
  })

  it('begins empty', async () => {
    const bank = await loadFixture(deploy)
    assert.equal(await client.getBalance({ address: bank.address }), 0n)
    assert.equal(await bank.read.balanceOf([alice.account.address]), 0n)
  })

  it('credits a deposit', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    assert.equal(await bank.read.balanceOf([alice.account.address]), parseEther('2'))
    assert.equal(await client.getBalance({ address: bank.address }), parseEther('2'))
  })

  it('starts without the deposits of other tests', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    assert.equal(await bank.read.balanceOf([bob.account.address]), 0n)
    await mined(bank.write.deposit({ account: bob.account, value: 5n }))
    assert.equal(await bank.read.balanceOf([bob.account.address]), 5n)
  })

  it('has forgotten the deposit of the previous test', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    assert.equal(await bank.read.balanceOf([bob.account.address]), 0n)
    assert.equal(await client.getBalance({ address: bank.address }), parseEther('2'))
  })

  it('emits an event for a deposit', async () => {
    const { bank, receipt } = await loadFixture(deployAndDeposit)
    const [log] = parseEventLogs({ abi: bank.abi, logs: receipt.logs })
    assert.equal(log.eventName, 'Deposited')
    assert.deepEqual(log.args, {
      account: getAddress(alice.account.address),
      amount: parseEther('2'),
    })
  })

  it('finds the deposits in the logs of all blocks', async () => {
    const { bank, receipt } = await loadFixture(deployAndDeposit)
    await mined(bank.write.deposit({ account: bob.account, value: 7n }))
    const found = await bank.getEvents.Deposited({}, { fromBlock: 0n })
    assert.deepEqual(
      found.map(({ args }) => args.amount),
      [parseEther('2'), 7n],
    )
    assert.equal(found[0].transactionHash, receipt.transactionHash)
    const ofBob = await bank.getEvents.Deposited(
      { account: bob.account.address },
      { fromBlock: 0n },
    )
    assert.equal(ofBob.length, 1)
  })

  it('refuses a withdrawal within a day', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    const until = await bank.read.unlockedAt([alice.account.address])
    const early = bank.write.withdraw({ account: alice.account })
    await assert.rejects(early, ({ message }) => /Locked/.test(message) && message.includes(until))
  })

  it('refuses a withdrawal of nothing', async () => {
    const bank = await loadFixture(deploy)
    await assert.rejects(bank.simulate.withdraw({ account: bob.account }), /Empty/)
  })

  it('pays after a day', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    await time.increase(day)
    const before = await client.getBalance({ address: alice.account.address })
    const receipt = await mined(bank.write.withdraw({ account: alice.account }))
    const cost = receipt.gasUsed * receipt.effectiveGasPrice
    const after = await client.getBalance({ address: alice.account.address })
    assert.equal(after - before, parseEther('2') - cost)
    assert.equal(await bank.read.balanceOf([alice.account.address]), 0n)
  })

  it('pays at the second in which the lock ends', async () => {
    const { bank } = await loadFixture(deployAndDeposit)
    const until = await bank.read.unlockedAt([alice.account.address])
    await time.setNextBlockTimestamp(until)
    await mined(bank.write.withdraw({ account: alice.account }))
    assert.equal(BigInt(await time.latest()), until)
  })

  it('lets its owner set the fee', async () => {
    const bank = await loadFixture(deploy)
    await mined(bank.write.setFee([3n]))
    assert.equal(await bank.read.fee(), 3n)
    await mined(bank.write.deposit({ account: alice.account, value: 10n }))
    assert.equal(await bank.read.balanceOf([alice.account.address]), 7n)
  })

  it('lets nobody else set it', async () => {
    const bank = await loadFixture(deploy)
    const refused = bank.write.setFee([3n], { account: bob.account })
    await assert.rejects(refused, /NotOwner/)
    assert.equal(await bank.read.fee(), 0n)
  })

  it('takes the fee that is written into its storage', async () => {
    const bank = await loadFixture(deploy)
    assert.equal(await bank.read.fee(), 0n)
    await networkHelpers.setStorageAt(bank.address, 0, 4n)
    assert.equal(BigInt(await networkHelpers.getStorageAt(bank.address, 0)), 4n)
    assert.equal(await bank.read.fee(), 4n)
  })

  it('serves an impersonated account', async () => {
    const bank = await loadFixture(deploy)
    const address = '0x00000000000000000000000000000000000000aa'
    await networkHelpers.impersonateAccount(address)
    await networkHelpers.setBalance(address, parseEther('1'))
    const wallet = await viem.getWalletClient(address)
    await mined(bank.write.deposit({ account: wallet.account, value: 11n }))
    assert.equal(await bank.read.balanceOf([address]), 11n)
    await networkHelpers.stopImpersonatingAccount(address)
    assert.notEqual(await bank.read.owner(), zeroAddress)
  })
})
