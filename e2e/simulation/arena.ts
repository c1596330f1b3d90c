// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { Call } from '../../proxy/relay/call.ts'
import type { RelayError } from '../../proxy/relay/errors.ts'
import type { Reply } from '../../proxy/relay/reply.ts'
import type { NodeUrl, Upstream } from '../../proxy/upstream/upstream.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { LieKind } from './lies.ts'
import type { Illness, RequestPlan, Schedule, UrlPlan } from './schedule.ts'

/** What a URL did with a request, as the simulation decided and not as the engine saw it. */
export type Fate =
  | { readonly kind: 'honest' }
  | { readonly kind: 'lie'; readonly lie: LieKind }
  /** Ill in another way. */
  | { readonly kind: 'ill'; readonly illness: Exclude<Illness['kind'], 'lie'> }

/** One URL of one upstream. */
export interface Place {
  readonly upstream: string
  readonly url: number
  /** What the engine prints of the URL. */
  readonly printable: string
}

/** One request that the engine sent to one URL. */
export interface Exchange {
  readonly place: Place
  /** The client's call; null for the router's own probes. */
  readonly callId: string | null
  readonly method: string
  readonly sentMs: number
  fate: Fate
  /** When its answer would be there; null: never. */
  readonly dueMs: number | null
  /** The node's newest block when it was asked. */
  readonly head: number
  /** It asks to be left alone for so long; null: it does not. */
  readonly limitMs: number | null
  /** What it sends is an error, honest or not. */
  readonly saysError: boolean
  /** Null while it is under way. */
  endedMs: number | null
  /** The router took it back. */
  isTakenBack: boolean
}

/** What came back, and the exchange that it came by. */
export type Answered = WeakMap<object, Exchange>

/** A request as it is asked, and the lowest head of a node that can answer it. */
export interface Question {
  readonly params: readonly unknown[]
  /** Height of the newest block that the answer needs; null when any node can answer. */
  readonly neededBlock: number | null
}

/** How a call ended for its client. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'error'; readonly error: RelayError }
  | { readonly kind: 'abandoned' }
  /** A part of an answer came, and then the connection broke: nothing was taken for whole. */
  | { readonly kind: 'broken-off'; readonly reply: Reply }
  /** Something was thrown that no caller of the relay expects. */
  | { readonly kind: 'defect'; readonly thrown: unknown }

/** One call of one client, and what the simulation knows of it. */
export interface ClientCall {
  readonly id: string
  readonly plan: RequestPlan
  readonly question: Question
  readonly call: Call
  readonly startedMs: number
  readonly deadlineMs: number
  /** URLs, as they are printed, that were verified when it began. */
  readonly verified: ReadonlySet<string>
  /** In the order of their sending. */
  readonly exchanges: Exchange[]
  leftMs: number | null
  endedMs: number | null
  outcome: Outcome | null
}

/** A URL with everything that is known of it: by the plan, by the engine and by the referee. */
export interface Seat {
  readonly upstream: Upstream
  readonly plan: UrlPlan
  readonly url: NodeUrl
  /** By what the pool reported, not by its own memory. */
  cooldownUntilMs: number
  /** By what the URL itself asked for. */
  limitedUntilMs: number
}

/** How often the pool and the relay reported it. */
export interface Reported {
  holdOffs: number
  stateChanges: number
  failedVerifications: number
  breakerTrips: number
  /** Those that another upstream showed alike as well, which are excused later. */
  violations: number
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
  readonly reported: Readonly<Reported>
  /** A rule is broken: `docs/testing.md` says what the rules are. */
  report(rule: string, what: string): void
}

export function upstreamNamed({ pool }: Arena, name: string): Upstream {
  return pool.upstreams.find((each) => each.name === name) as Upstream
}
