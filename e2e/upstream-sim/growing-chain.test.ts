// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { GrowingChain } from './growing-chain.ts'
import { viewOf } from './node-view.ts'

const usual = { blockTimeMs: 1_000, head: 100 }

test('the head rises with the clock', async () => {
  const clock = new VirtualClock()
  const chain = new GrowingChain<string>({ clock }, usual)
  await clock.advance(3_500)
  expect(chain.head).toBe(103)
  chain.mine()
  expect(chain.head).toBe(104)
  await clock.advance(2_000)
  expect(chain.head).toBe(106)
})

test('a transaction waits for the next block, and is mined once', () => {
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

test('a reorganisation puts the newest heights on another branch', () => {
  const chain = new GrowingChain<string>({}, usual)
  chain.reorg(3)
  chain.mine()
  expect([96, 97, 98, 100, 101].map((height) => chain.branchAt(height))).toEqual([0, 0, 1, 1, 1])
  chain.reorg(2)
  expect([97, 98, 99, 100, 101].map((height) => chain.branchAt(height))).toEqual([0, 1, 1, 2, 2])
  expect(() => chain.reorg(0)).toThrow(RangeError)
})

test('a node may be behind, or stuck', () => {
  const chain = new GrowingChain<string>({}, usual)
  const view = viewOf(chain, { lagBlocks: 5 })
  expect(view.head).toBe(95)
  view.settings.frozenAt = 90
  chain.mine(10)
  expect(view.head).toBe(90)
})
