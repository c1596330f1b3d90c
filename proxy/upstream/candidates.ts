// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { StateRecord } from './observer.ts'
import type { Upstream } from './upstream.ts'
import { type Weighed, floorOf } from './weights.ts'
import type { NodeUrl } from './node-url.ts'

/** Why the selection excluded an upstream: it cannot serve the call, or others rank higher. */
export type ExclusionReason =
  | 'unverified'
  | 'rejected'
  | 'cooldown'
  | `no-addon ${string}`
  | 'full'
  /** The limits of its URLs are reached. */
  | 'limit-reached'
  /** Excluded by the client, or by a session, filter or vote that needs another upstream. */
  | 'excluded'
  | 'tried'
  | 'disabled'
  /** Its consecutive failures reached the threshold, and a probe has yet to confirm them. */
  | 'on-trial'
  | 'backup'
  | 'lagging'
  | 'no-archive'
  | 'lacks-block'
  | 'pruned'
  /** The config does not let the method go to it. */
  | 'method-denied'
  /** It has said that it lacks or limits the method. */
  | 'no-method'

/** One upstream of the pool at the time of a selection. */
export interface Candidate extends Weighed {
  /** The lowest rank is selected from; null if the upstream cannot serve the call. */
  readonly rank: number | null
  /** Null for a candidate. */
  readonly exclusionReason: ExclusionReason | null
  /** Blocks behind the tip, milliseconds left, or oldest block, by the reason. */
  readonly amount: number | null
  /** Why it is asked for this method last: the words of the node; otherwise null. */
  readonly why: string | null
  /** State of an excluded upstream; null if it is eligible or a candidate. */
  readonly record: StateRecord | null
}

/** A URL chosen for a call before the usual selection. */
export interface ChosenUrl {
  readonly upstream: Upstream
  readonly url: NodeUrl
}

/** Candidates of a weighted selection; null if there was at most one. */
export function drawCandidates(considered: readonly Candidate[] | null): readonly Weighed[] | null {
  const drawn = considered?.filter(({ exclusionReason }) => exclusionReason === null) ?? []
  if (drawn.length < 2) return null
  const floor = floorOf(drawn.map(({ weight }) => weight))
  return drawn.map((each) => ({ ...each, weight: Math.max(each.weight, floor) }))
}
