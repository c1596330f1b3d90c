// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'

/** Time per compute unit. */
const msPerCost = 100
/** A call that waits for a block may meet a slow one. */
const blocksWaited = 2

export interface AttemptBudget {
  readonly ms: number
  /** Somebody said so: then it is over. Else it is only late: somebody else is asked as well. */
  readonly isFirm: boolean
}

/**
 * How long one attempt may take, in milliseconds, unless its client says so: what the config says of
 * the URL, else what the spec says of the method, else what its cost suggests.
 */
export function attemptBudget(
  asked: Classification,
  limits: {
    readonly urlMs: number | null
    readonly minMs: number
    readonly blockTimeMs: number
  },
): AttemptBudget {
  if (limits.urlMs !== null) return { ms: limits.urlMs, isFirm: true }
  const waitMs = asked.waitsForBlock ? blocksWaited * limits.blockTimeMs : 0
  const usualMs = Math.max(asked.timeoutMs ?? asked.cost * msPerCost, limits.minMs)
  return { ms: waitMs + usualMs, isFirm: false }
}
