// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { createChainModel } from './chain-model.ts'
import { Transaction } from 'ethers'

const wallet = new Wallet(`0x${'11'.repeat(32)}`)

async function signed(nonce: number) {
  return Transaction.from(
    await wallet.signTransaction({
      to: `0x${'22'.repeat(20)}`,
      value: 5n,
      nonce,
      chainId: 1,
      type: 2,
      gasLimit: 21_000,
      maxFeePerGas: 50_000_000_000n,
      maxPriorityFeePerGas: 1n,
    }),
  )
}

const seeds = fc.string({ minLength: 1, maxLength: 8 })
const heights = fc.integer({ min: 1, max: 25_000_000 })

describe('any chain, at any height', () => {
  test('blocks link to their parents, and are found by their hashes', () => {
    fc.assert(
      fc.property(seeds, heights, (seed, height) => {
        const chain = createChainModel({ seed, head: height })
        const mined = chain.block(height)
        expect(mined.block.parentHash).toBe(chain.block(height - 1).hash)
        expect(chain.find(mined.hash)).toEqual({ mined, index: null, canonical: true })
        let gas = 0
        let logIndex = 0
        for (const [index, transaction] of mined.block.transactions.entries()) {
          const receipt = mined.receipts[index]!
          gas += Number(receipt.gasUsed)
          expect(chain.find(transaction.hash)).toEqual({ mined, index, canonical: true })
          expect(Number(transaction.transactionIndex)).toBe(index)
          expect(transaction.blockHash).toBe(mined.hash)
          expect(receipt.transactionHash).toBe(transaction.hash)
          expect(receipt.blockHash).toBe(mined.hash)
          expect(Number(receipt.cumulativeGasUsed)).toBe(gas)
          for (const log of receipt.logs) {
            expect(log.transactionHash).toBe(transaction.hash)
            expect(log.blockNumber).toBe(mined.block.number)
            expect(Number(log.logIndex)).toBe(logIndex++)
          }
        }
        expect(Number(mined.block.gasUsed)).toBe(gas)
      }),
      { numRuns: 15 },
    )
  })

  test('nonces match the transactions of each block', () => {
    fc.assert(
      fc.property(seeds, heights, (seed, height) => {
        const chain = createChainModel({ seed, head: height })
        const sent = new Map<string, number>()
        for (const { from, nonce } of chain.block(height).block.transactions) {
          const expected = chain.state.nonce(from, height - 1) + (sent.get(from) ?? 0)
          expect(Number(nonce)).toBe(expected)
          sent.set(from, (sent.get(from) ?? 0) + 1)
        }
        for (const address of chain.population.accounts)
          expect(chain.state.nonce(address, height) - chain.state.nonce(address, height - 1)).toBe(
            sent.get(address) ?? 0,
          )
      }),
      { numRuns: 15 },
    )
  })

  test('the seed determines the chain', () => {
    fc.assert(
      fc.property(seeds, seeds, heights, (seed, other, height) => {
        const hashOf = (of: string) =>
          createChainModel({ seed: of, head: height }).block(height).hash
        expect(hashOf(seed)).toBe(hashOf(seed))
        expect(hashOf(seed) === hashOf(other)).toBe(seed === other)
      }),
      { numRuns: 15 },
    )
  })

  test('an unknown hash is not found', () => {
    const chain = createChainModel()
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(chain.find(`0x${Buffer.from(bytes).toString('hex')}`)).toBeNull()
      }),
    )
  })
})

test('after any blocks and reorganisations the canonical chain links', () => {
  const step = fc.oneof(
    fc.record({ mine: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ reorg: fc.integer({ min: 1, max: 20 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const chain = createChainModel({ head: 100 })
      for (const one of steps) {
        const before = chain.block(chain.head)
        const head = chain.head
        if ('mine' in one) {
          chain.mine(one.mine)
          expect(chain.head).toBe(head + one.mine)
          expect(chain.find(before.hash)?.canonical).toBe(true)
        } else {
          const kept = chain.block(head - one.reorg)
          chain.reorg(one.reorg)
          expect(chain.head).toBe(head)
          expect(chain.find(before.hash)).toEqual({ mined: before, index: null, canonical: false })
          expect(chain.find(kept.hash)?.canonical).toBe(true)
        }
        for (let height = chain.head; height > chain.head - 30; height--)
          expect(chain.block(height).block.parentHash).toBe(chain.block(height - 1).hash)
      }
    }),
    { numRuns: 40 },
  )
})

test('an invalid reorganisation depth is an error', () => {
  const chain = createChainModel({ head: 10 })
  for (const depth of [0, -1, 11, 1.5]) expect(() => chain.reorg(depth)).toThrow(RangeError)
})

test('the head follows the clock, and blocks are a block time apart', async () => {
  const clock = new VirtualClock()
  const chain = createChainModel({ clock, blockTimeMs: 2_000, head: 50 })
  await clock.advance(1_999)
  expect(chain.head).toBe(50)
  await clock.advance(1)
  expect(chain.head).toBe(51)
  await clock.advance(20_000)
  expect(chain.head).toBe(61)
  const [older, newer] = [chain.block(60), chain.block(61)].map(({ block }) => block.timestamp)
  expect(Number(newer) - Number(older)).toBe(2)
  expect(Number(newer) * 1000).toBe(clock.wallMs())
})

test('a submitted transaction is mined once, moves value and survives a reorganisation', async () => {
  const chain = createChainModel({ head: 100 })
  const transaction = await signed(0)
  const before = chain.state.balance(transaction.to!, 100)
  chain.submit(transaction.hash!, transaction)
  expect(chain.waiting).toEqual([transaction])
  expect(chain.find(transaction.hash!)).toBeNull()
  chain.mine(3)
  chain.submit(transaction.hash!, transaction)
  expect(chain.waiting).toEqual([])
  expect(chain.find(transaction.hash!)?.mined.height).toBe(101)
  expect(chain.state.nonce(wallet.address, 101)).toBe(1)
  expect(chain.state.nonce(wallet.address, 100)).toBe(0)
  expect(chain.state.balance(transaction.to!, 101)).toBeGreaterThan(before + 4n)
  const replaced = chain.block(101)
  chain.reorg(3)
  const found = chain.find(transaction.hash!)!
  expect(found.mined.hash).not.toBe(replaced.hash)
  expect(found.mined.block.transactions[found.index!]?.hash).toBe(transaction.hash)
})
