// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StateRecord } from './observer.ts'
import { type Weighed, floorOf } from './weights.ts'

/** Why a pick left an upstream out: it cannot be asked, others come first, or others have what the call is about. */
export type ExclusionReason =
  | 'unverified'
  | 'rejected'
  | 'cooldown'
  | `no-addon ${string}`
  | 'full'
  /** By the client, or since a session, a filter or a vote wants another one. */
  | 'kept-out'
  | 'asked'
  | 'disabled'
  /** It failed as often in a row as it may, and a probe has yet to confirm that. */
  | 'on-trial'
  | 'backup'
  | 'lagging'
  | 'no-archive'
  | 'lacks-block'
  | 'pruned'

/** One upstream of the pool, as a pick saw it. */
export interface Candidate extends Weighed {
  /** The lowest is drawn from; null: it cannot be asked. */
  readonly rank: number | null
  /** Null: it was drawn from. */
  readonly exclusionReason: ExclusionReason | null
  /** If it lags or lacks the block: blocks behind the tip. In cooldown: milliseconds left. Pruned: its oldest block. */
  readonly amount: number | null
  /** The state of an upstream that was left out; null if it was drawn from or is eligible. */
  readonly record: StateRecord | null
}

/** The candidates of a draw with their weights; null if there was no draw. */
export function drawCandidates(considered: readonly Candidate[] | null): readonly Weighed[] | null {
  const drawn = considered?.filter(({ exclusionReason }) => exclusionReason === null) ?? []
  if (drawn.length < 2) return null
  const floor = floorOf(drawn.map(({ weight }) => weight))
  return drawn.map((each) => ({ ...each, weight: Math.max(each.weight, floor) }))
}
