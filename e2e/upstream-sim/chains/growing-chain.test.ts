// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../../proxy/clock/virtual-clock.ts'
import { GrowingChain } from './growing-chain.ts'
import { NodeView, wholeView } from './node-view.ts'

const usual = { blockTimeMs: 1_000, head: 100 }

test('the head rises with the clock, and whoever listens hears of it', async () => {
  const clock = new VirtualClock()
  const chain = new GrowingChain<string>({ clock }, usual)
  const heads: number[] = []
  const end = chain.onHead((head) => heads.push(head))
  await clock.advance(3_500)
  expect(heads).toEqual([101, 102, 103])
  chain.mine()
  expect(chain.head).toBe(104)
  end()
  await clock.advance(2_000)
  expect(heads).toEqual([101, 102, 103, 104])
  expect(chain.head).toBe(106)
})

test('a transaction waits for the next block, and is taken once', () => {
  const chain = new GrowingChain<string>({}, usual)
  chain.submit('a', 'first')
  chain.submit('a', 'again')
  expect(chain.waiting).toEqual(['first'])
  expect(chain.sent('a')).toEqual({ sent: 'first', height: null })
  chain.mine(2)
  expect(chain.waiting).toEqual([])
  expect(chain.sent('a')).toEqual({ sent: 'first', height: 101 })
  expect(chain.sentIn(101)).toEqual(['first'])
  expect(chain.sentUpTo(100)).toEqual([])
  expect(chain.sent('b')).toBeNull()
})

test('a reorganisation puts the newest heights on another fork', () => {
  const chain = new GrowingChain<string>({}, usual)
  chain.reorg(3)
  chain.mine()
  expect([96, 97, 98, 100, 101].map((height) => chain.forkAt(height))).toEqual([0, 0, 1, 1, 1])
  chain.reorg(2)
  expect([97, 98, 99, 100, 101].map((height) => chain.forkAt(height))).toEqual([0, 1, 1, 2, 2])
  expect(() => chain.reorg(0)).toThrow(RangeError)
})

test('a node may be behind, stuck or pruned, or answer about its neighbour', () => {
  const chain = new GrowingChain<string>({}, usual)
  const view = new NodeView(chain, { ...wholeView, earliestBlock: 10 })
  expect([view.head, view.has(100), view.has(101), view.has(9)]).toEqual([100, true, false, false])
  view.settings.lagBlocks = 5
  expect(view.head).toBe(95)
  view.settings.frozenAt = 90
  chain.mine(10)
  expect(view.head).toBe(90)
  expect(view.answered(50)).toBe(50)
  expect(view.skewed().answered(50)).toBe(49)
})
