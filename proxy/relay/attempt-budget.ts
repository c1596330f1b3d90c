// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may meet a slow one. */
const blocksWaited = 2

/**
 * How long one attempt may take, in milliseconds: what the client says verbatim, else what the
 * config says of the URL, else what the spec says of the method, else what its cost suggests.
 */
export function attemptBudgetMs(
  asked: Classification,
  limits: {
    readonly directiveMs: number | null
    readonly urlMs: number | null
    readonly minMs: number
    readonly blockTimeMs: number
  },
): number {
  if (limits.directiveMs !== null) return limits.directiveMs
  if (limits.urlMs !== null) return limits.urlMs
  const waitMs = asked.waitsForBlock ? blocksWaited * limits.blockTimeMs : 0
  return waitMs + Math.max(asked.timeoutMs ?? asked.cost * msPerCost, limits.minMs)
}
