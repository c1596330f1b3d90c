// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { isFinal } from './finality.ts'
import type { BlockPoint, BlockRef, Chain } from './types.ts'

const at = (number: number): BlockPoint => ({ kind: 'number', number })
const latest: BlockPoint = { kind: 'tag', tag: 'latest' }

test.each<[BlockRef, number | null, Chain['finality'], boolean]>([
  [at(94), 100, 6, true],
  [at(95), 100, 6, false],
  [at(850), 1_000, 'finalized', true],
  [at(851), 1_000, 'finalized', false],
  [at(1), null, 6, false],
  [latest, 100, 6, false],
  [{ kind: 'tag', tag: 'finalized' }, 100, 6, false],
  [{ kind: 'tag', tag: 'earliest' }, null, 6, true],
  [{ kind: 'range', from: at(1), to: at(94) }, 100, 6, true],
  [{ kind: 'range', from: at(95), to: at(94) }, 100, 6, false],
  [{ kind: 'range', from: at(1), to: latest }, 100, 6, false],
  [{ kind: 'none' }, 100, 6, false],
])('%j at tip %s with finality %s: %s', (block, tip, finality, expected) => {
  expect(isFinal(block, tip, { finality, blockTimeMs: 12_000 })).toBe(expected)
})
