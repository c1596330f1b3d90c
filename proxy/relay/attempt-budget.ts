// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may meet a slow one. */
const blocksWaited = 2

/** What the spec says of the method, else what its cost suggests. */
export function usualBudgetMs(asked: Classification, minMs: number, blockTimeMs: number): number {
  const waitMs = asked.waitsForBlock ? blocksWaited * blockTimeMs : 0
  return waitMs + Math.max(asked.timeoutMs ?? asked.cost * msPerCost, minMs)
}
