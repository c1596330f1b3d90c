// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { ChainTracker, type TrackedNode } from './chain-tracker.ts'
import type { Reorg } from './reorgs.ts'

test('the tracker reports a reorg of what its nodes show; other replicas show nothing new', () => {
  const found: Reorg[] = []
  const chain = { allowedLagBlocks: 1, blockTimeMs: 1_000 }
  const reorged = (reorg: Reorg) => void found.push(reorg)
  const tracker = new ChainTracker({ chain, clock: new VirtualClock(), reorged })
  const node = { name: 'one', latest: null, preconfirmed: 0 } as unknown as TrackedNode
  const blockOf = (hash: string) => ({ number: 5, hash, parent: null, isByHash: false })
  tracker.showBlock(blockOf('5a'), node)
  tracker.showBlock(blockOf('5b'))
  expect(found).toEqual([])
  tracker.showBlock(blockOf('5b'), node)
  expect(found).toEqual([{ block: 5, depth: 1, usualDepth: 1 }])
})

test('the age of the tip is unknown without a tip, and never negative', async () => {
  const clock = new VirtualClock()
  const tracker = new ChainTracker({ chain: { allowedLagBlocks: 1, blockTimeMs: 1_000 }, clock })
  const node = { name: 'one', latest: null, status: null, isInService: true, preconfirmed: 0 }
  const tracked = node as unknown as TrackedNode
  tracker.join({ upstreams: [tracked] })
  tracker.observeHead(tracked, 100, clock.nowMs())
  const ageIn = async (isInService: boolean) => {
    node.isInService = isInService
    await clock.advance(12_000)
    tracker.update()
    return tracker.tipAgeMs
  }
  expect(await ageIn(false)).toBeNull()
  expect(await ageIn(true)).toBe(0)
})
