// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { Call } from '../../proxy/relay/call.ts'
import type { RelayError } from '../../proxy/relay/errors.ts'
import type { Reply } from '../../proxy/relay/reply.ts'
import type { Upstream } from '../../proxy/upstream/upstream.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { WrongKind } from './wrong-answers.ts'
import {
  type Fault,
  retainedBlocks,
  type RequestPlan,
  type Schedule,
  type Span,
  type UrlPlan,
} from './schedule.ts'
import type { NodeUrl } from '../../proxy/upstream/node-url.ts'

/** What a URL did with a request, by the simulation's plan rather than the engine's view. */
export type Fate =
  | { readonly kind: 'honest' }
  | { readonly kind: 'wrong'; readonly wrong: WrongKind }
  | { readonly kind: 'faulty'; readonly fault: Exclude<Fault['kind'], 'wrong'> }

/** One URL of one upstream. */
export interface Target {
  readonly upstream: string
  readonly url: number
  /** The URL as the engine prints it. */
  readonly printable: string
}

/** One request that the engine sent to one URL. */
export interface Exchange {
  readonly target: Target
  /** The client's call; null for the router's own probes. */
  readonly callId: string | null
  readonly method: string
  readonly params: readonly unknown[]
  readonly sentMs: number
  fate: Fate
  /** When its answer is due; null: never. */
  readonly dueMs: number | null
  /** The node's newest block when it got the request. */
  readonly head: number
  /** Cooldown that the answer requests; null: none. */
  readonly limitMs: number | null
  /** Whether the answer is an error, honest or not. */
  readonly isError: boolean
  /** Whether its node reports that it is syncing. */
  readonly isSyncing: boolean
  /** Whether its node has pruned the block, and returns an empty answer. */
  readonly isPruned: boolean
  /** Null while it is in flight. */
  endedMs: number | null
  /** Whether the router aborted it. */
  isAborted: boolean
}

/** Exchanges by their answers. */
export type Answered = WeakMap<object, Exchange>

/** The params of a request, and the lowest head that can answer it. */
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
  /** The connection broke in the middle of the answer, and the client noticed. */
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
  /** Printed URLs that were verified when the call began. */
  readonly verified: ReadonlySet<string>
  /** In send order. */
  readonly exchanges: Exchange[]
  leftMs: number | null
  endedMs: number | null
  outcome: Outcome | null
}

/** A URL with its plan, its state in the engine and the simulation's record. */
export interface Seat {
  readonly upstream: Upstream
  readonly plan: UrlPlan
  readonly url: NodeUrl
  /** From the pool's report, independent of the pool's state. */
  cooldownUntilMs: number
  /** From the answers of the URL. */
  limitedUntilMs: number
  /** When a cooldown began, or a call last tried the URL during one. */
  lastTrialMs: number
  trial: Exchange | null
  /** Time of its first report that it is syncing. */
  syncingSinceMs: number
}

/** A running simulation, as its checks see it. */
export interface Arena {
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly chain: ChainModel
  readonly floors: {
    floorOf(plan: RequestPlan): number | null
    followTip(): void
    ended(client: ClientCall): void
  }
  /** The head of the chain at a time in the past. */
  readonly headAt: (ms: number) => number
  readonly allowedLagBlocks: number
  readonly pool: Pool
  readonly answered: Answered
  /** By printed URL. */
  readonly seats: ReadonlyMap<string, Seat>
  readonly calls: ReadonlyMap<string, ClientCall>
  /** Reports a broken rule; `docs/testing.md` lists the rules. */
  readonly report: (rule: string, what: string) => void
}

/** The exchange that returned the client's answer. */
export function exchangeOf({ answered }: Arena, { outcome }: ClientCall): Exchange | undefined {
  if (outcome?.kind !== 'reply') return undefined
  const { incoming } = outcome.reply
  return answered.get(incoming) ?? answered.get(incoming.body) ?? answered.get(incoming.headers)
}

/** Whether a node of the upstream has pruned the call's block, or appears to lack it. */
export function lacksHistory({ seats }: Arena, upstream: Upstream, client: ClientCall): boolean {
  const depth = client.plan.depth ?? 0
  // A node whose head fell far refuses an old block, like a pruned node.
  const seemsPruned = ({ kind }: Fault) =>
    kind === 'wrong' || (kind === 'lag' && upstream.lacks(client.call.method))
  const lacksBlock = ({ isPruned, faults }: UrlPlan) =>
    (isPruned && depth > retainedBlocks) || (depth > 0 && faults.some(seemsPruned))
  return [...seats.values()].some((each) => each.upstream === upstream && lacksBlock(each.plan))
}

/** Whether an upstream is current, and its URLs have had no recent fault. */
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

/** Whether a block is fresh by its timestamp. */
export function isFresh({ chain, clock, allowedLagBlocks }: Arena, block: number): boolean {
  const freshMs = Math.max((allowedLagBlocks + 1) * chain.blockTimeMs, 30_000)
  return clock.wallMs() - chain.wallMsOf(block) <= freshMs
}

export function upstreamNamed({ pool }: Arena, name: string): Upstream {
  return pool.upstreams.find((each) => each.name === name) as Upstream
}
