// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { lifetimesOf } from './retention.ts'

test.each([
  { chain: 'Solana', blockTimeMs: 400, latest: 400 },
  { chain: 'Ethereum', blockTimeMs: 12_000, latest: 500 },
])('answers about the latest block of $chain live for $latest ms', ({ blockTimeMs, latest }) => {
  expect(lifetimesOf([], blockTimeMs)('getSlot')).toMatchObject({
    latest,
    'near-head': blockTimeMs,
  })
})
