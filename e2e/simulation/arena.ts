// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import type { NodeUrl } from '../../proxy/upstream/node-url.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { Upstream } from '../../proxy/upstream/upstream.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { ClientCall } from './client-call.ts'
import type { Violation as Broken } from './runner/types.ts'
import type { Answered } from './simulated-url.ts'
import type { NodePlan, Schedule, UrlPlan } from './schedule.ts'

/** The invariants. `docs/testing.md` says what each of them claims. */
export type Rule =
  | 'ends-once'
  | 'ends-in-time'
  | 'no-defect'
  | 'no-lie'
  | 'own-answer'
  | 'honest-is-believed'
  | 'reads-succeed'
  | 'late-answers-count'
  | 'other-upstream-first'
  | 'primary-first'
  | 'fresh-first'
  | 'writes-once'
  | 'only-reads-again'
  | 'only-where-it-helps'
  | 'nothing-for-nobody'
  | 'attempts-bounded'
  | 'attempt-in-its-time'
  | 'extra-calls-bounded'
  | 'held-off-left-alone'
  | 'only-verified'
  | 'directives-kept'
  | 'add-ons-kept'
  | 'sessions-bounded'
  | 'tip-is-true'
  | 'head-is-known'
  | 'breaker-is-right'
  | 'comes-back'
  | 'leaves-nothing'
  | 'journal-is-true'
  | 'metrics-add-up'

export interface Violation extends Broken<Rule> {
  readonly atMs: number
}

/** A URL with everything that is known of it: by the plan, by the engine and by the referee. */
export interface Seat {
  readonly upstream: Upstream
  readonly node: NodePlan
  readonly plan: UrlPlan
  readonly url: NodeUrl
  /** By what the pool told, not by its own memory. */
  heldOffUntilMs: number
  /** By what the URL itself asked for. */
  limitedUntilMs: number
}

/** What is counted as it is told. */
export interface Told {
  holdOffs: number
  stateChanges: number
  failedVerifications: number
  breakerTrips: number
}

/** One simulation under way: what its checks look at. */
export interface Arena {
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly chain: ChainModel
  readonly allowedLagBlocks: number
  readonly pool: Pool
  readonly answered: Answered
  /** By the URL as it is printed. */
  readonly seats: ReadonlyMap<string, Seat>
  readonly calls: ReadonlyMap<string, ClientCall>
  /** How often the pool and the relay told of it. */
  readonly told: Readonly<Told>
  report(rule: Rule, what: string): void
}

export function upstreamNamed({ pool }: Arena, name: string): Upstream {
  return pool.upstreams.find((each) => each.name === name) as Upstream
}
