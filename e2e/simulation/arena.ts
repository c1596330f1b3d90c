// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { Call } from '../../proxy/relay/call.ts'
import type { RelayError } from '../../proxy/relay/errors.ts'
import type { Reply } from '../../proxy/relay/reply.ts'
import type { NodeUrl, Upstream } from '../../proxy/upstream/upstream.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { WrongKind } from './wrong-answers.ts'
import {
  type Fault,
  keptBlocks,
  type RequestPlan,
  type Schedule,
  type Span,
  type UrlPlan,
} from './schedule.ts'

/** What a URL did with a request: the decision of the simulation, not the engine's view. */
export type Fate =
  | { readonly kind: 'honest' }
  | { readonly kind: 'wrong'; readonly wrong: WrongKind }
  /** Another fault. */
  | { readonly kind: 'faulty'; readonly fault: Exclude<Fault['kind'], 'wrong'> }

/** One URL of one upstream. */
export interface Place {
  readonly upstream: string
  readonly url: number
  /** The URL as the engine prints it. */
  readonly printable: string
}

/** One request that the engine sent to one URL. */
export interface Exchange {
  readonly place: Place
  /** The client's call; null for the router's own probes. */
  readonly callId: string | null
  readonly method: string
  readonly params: readonly unknown[]
  readonly sentMs: number
  fate: Fate
  /** When its answer is due; null: never. */
  readonly dueMs: number | null
  /** The node's newest block when it was asked. */
  readonly head: number
  /** The cooldown that it asks for; null: none. */
  readonly limitMs: number | null
  /** It sends an error, honest or not. */
  readonly saysError: boolean
  /** Its node says that it is syncing, if asked. */
  readonly isSyncing: boolean
  /** Its node has pruned the block, and gives an empty answer. */
  readonly isPruned: boolean
  /** Null while it is under way. */
  endedMs: number | null
  /** The router aborted it. */
  isAborted: boolean
}

/** Answers, and the exchanges that they came by. */
export type Answered = WeakMap<object, Exchange>

/** The params of a request, and the lowest head of a node that can answer it. */
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
  /** The connection broke after a part of the answer: the client saw that it is not whole. */
  | { readonly kind: 'broken-off'; readonly reply: Reply }
  /** The relay threw an unexpected error. */
  | { readonly kind: 'defect'; readonly thrown: unknown }

/** One call of one client, and its record in the simulation. */
export interface ClientCall {
  readonly id: string
  readonly plan: RequestPlan
  readonly question: Question
  readonly call: Call
  readonly startedMs: number
  readonly deadlineMs: number
  /** Printed URLs that were verified when it began. */
  readonly verified: ReadonlySet<string>
  /** In the order of their sending. */
  readonly exchanges: Exchange[]
  leftMs: number | null
  endedMs: number | null
  outcome: Outcome | null
}

/** A URL with its plan, its state in the engine and the referee's record. */
export interface Seat {
  readonly upstream: Upstream
  readonly plan: UrlPlan
  readonly url: NodeUrl
  /** As the pool reported it, not as it remembers it. */
  cooldownUntilMs: number
  /** As the URL itself asked for. */
  limitedUntilMs: number
  /** When it first reported that it is syncing. */
  saidSyncingMs: number
}

/** A running simulation, as its checks see it. */
export interface Arena {
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly chain: ChainModel
  readonly floors: {
    floorOf(plan: RequestPlan): number | null
    look(): void
    ended(client: ClientCall): void
  }
  /** The head of the chain at a time in the past. */
  readonly headAt: (ms: number) => number
  readonly allowedLagBlocks: number
  readonly pool: Pool
  readonly answered: Answered
  /** By the URL as it is printed. */
  readonly seats: ReadonlyMap<string, Seat>
  readonly calls: ReadonlyMap<string, ClientCall>
  /** Reports a broken rule; `docs/testing.md` lists the rules. */
  readonly report: (rule: string, what: string) => void
}

/** The exchange that an answer came by. */
export function exchangeOf({ answered }: Arena, { outcome }: ClientCall): Exchange | undefined {
  if (outcome?.kind !== 'reply') return undefined
  const { incoming } = outcome.reply
  return answered.get(incoming) ?? answered.get(incoming.body) ?? answered.get(incoming.headers)
}

/** Whether a node of the upstream has pruned the call's block, or misled the router about it. */
export function lacksHistory({ seats }: Arena, upstream: Upstream, client: ClientCall): boolean {
  const depth = client.plan.depth ?? 0
  // A node whose head fell far refuses an old block, as a pruned node does.
  const hasMisled = ({ kind }: Fault) =>
    kind === 'wrong' || (kind === 'lag' && upstream.lacks(client.call.method))
  const isSuch = ({ isPruned, faults }: UrlPlan) =>
    (isPruned && depth > keptBlocks) || (depth > 0 && faults.some(hasMisled))
  return [...seats.values()].some((each) => each.upstream === upstream && isSuch(each.plan))
}

/** Whether an upstream is up to date and, for some time, none of its URLs has had a fault. */
export function isSound({ seats, clock, schedule, allowedLagBlocks }: Arena, { urls }: Upstream) {
  const nowMs = clock.nowMs()
  const sinceMs = nowMs - 4 * schedule.chain.blockTimeMs
  return urls.every(({ verified, printable }) => {
    const { plan, cooldownUntilMs } = seats.get(printable)!
    const isCurrent = plan.syncing === null && plan.lagBlocks <= allowedLagBlocks
    const isFine = verified === true && !plan.isForeign && cooldownUntilMs <= sinceMs
    const wasBad = (each: Span) => each.untilMs > sinceMs && each.fromMs <= nowMs
    return isCurrent && isFine && !plan.faults.some(wasBad)
  })
}

/** Whether a block counts as new by its timestamp. */
export function isFresh({ chain, clock, allowedLagBlocks }: Arena, block: number): boolean {
  const freshMs = Math.max((allowedLagBlocks + 1) * chain.blockTimeMs, 30_000)
  return clock.wallMs() - chain.wallMsOf(block) <= freshMs
}

export function upstreamNamed({ pool }: Arena, name: string): Upstream {
  return pool.upstreams.find((each) => each.name === name) as Upstream
}
