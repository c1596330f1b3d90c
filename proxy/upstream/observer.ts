// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { DataKind } from '../chain/types.ts'
import type { Tier } from '../config/types.ts'
import type { Reorg } from '../tracker/reorgs.ts'

/**
 * States of an upstream, from best to worst. `cooldown`: all its URLs are in cooldown. `lagging`:
 * it serves all but the newest blocks.
 */
export const upstreamStates = [
  'eligible',
  'lagging',
  'cooldown',
  'unverified',
  'disabled',
  'rejected',
] as const
export type UpstreamState = (typeof upstreamStates)[number]

/**
 * Whether an upstream in this state serves calls. A lagging upstream does, except for the newest
 * blocks.
 */
export function isServing(state: UpstreamState): boolean {
  return state === 'eligible' || state === 'lagging'
}

/** Whether calls go to the upstream: it is in service, and a limit of the day leaves some. */
export function takesCalls({ state, isDayUsed }: UpstreamSnapshot): boolean {
  return isServing(state) && !isDayUsed
}

/** Whether the backup tier serves, because no primary takes calls. */
export function isOnBackup({ upstreams }: Pick<PoolSnapshot, 'upstreams'>): boolean {
  const taking = upstreams.filter(takesCalls)
  return taking.length > 0 && taking.every(({ tier }) => tier === 'backup')
}

/** State of an upstream with start and reason, for pages, metrics and logs. Times are ISO 8601. */
export interface StateRecord {
  readonly state: UpstreamState
  /** Start of the state. A bad state that returns within a minute counts as uninterrupted. */
  readonly since: string
  /** Problem of the upstream, even if it serves; null if there is none. */
  readonly why: string | null
  /** Latest end of the state; null if that depends only on the node. */
  readonly until: string | null
}

/** One URL of an upstream. */
export interface UrlRecord {
  /** Position in the list of the config, from 1. */
  readonly position: number
  /** Safe to print. */
  readonly url: string
  /** Why it does not serve; null while it serves. */
  readonly why: string | null
  /** Since when it does not serve, in ISO 8601; null while it serves. */
  readonly since: string | null
}

/** A limit of a node on one method. */
export interface MethodLimit {
  readonly method: string
  /** The words of the node. */
  readonly why: string
  /** When calls of the method go to the URL again, in ISO 8601. */
  readonly until: string
}

/** The qualities of an upstream, each in [0, 1] and 1 for the best. */
export interface Qualities {
  readonly availability: number
  readonly latency: number
  readonly sync: number
  /** Below 1 during the slow start. */
  readonly earned: number
}

/** Snapshot of one upstream. */
export interface UpstreamSnapshot extends StateRecord {
  readonly name: string
  readonly tier: Tier
  /** Recent faults that do not stop it from serving: `... (stalled: 5) since 13:15:07`; or null. */
  readonly fault: string | null
  /** Methods that it has limited within the last minute. */
  readonly methodLimits: readonly MethodLimit[]
  /** Whether every URL has used up its requests of the day, so that it gets no calls. */
  readonly isDayUsed: boolean
  /** The lowest learned limit of its URLs, in requests per second; null without one. */
  readonly learnedPerSecond: number | null
  /** The smallest learned range of its URLs, in blocks per request for logs; null without one. */
  readonly learnedLogBlocks: number | null
  /** Attempts in flight. */
  readonly sessions: number
  /** Null if unknown, like the other nulls. */
  readonly latestBlock: number | null
  /** Blocks behind the chain's tip; 0 at the tip or ahead of it. */
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  /** Its oldest block per kind of data; unknown kinds are absent. */
  readonly oldestBlocks: Readonly<Partial<Record<DataKind, number>>>
  /** Names of the checks that its URLs may fail. */
  readonly verifications: readonly string[]
  /** Its URLs, WebSocket URLs last. */
  readonly urls: readonly UrlRecord[]
  /** Number of its URLs in cooldown, including those for subscriptions. */
  readonly urlsInCooldown: number
  /** Time until the first of these cooldowns ends; null without one. */
  readonly cooldownLeftMs: number | null
  /** Recent mean latency. */
  readonly latencyMs: number | null
  /** Relative weight in the selection, in [0, 1]; null before the upstream may serve. */
  readonly score: number | null
  /** The parts of the score, each in [0, 1]; null without one. */
  readonly qualities: Qualities | null
}

/** Snapshot of the pool of one chain and interface, for health checks and metrics. */
export interface PoolSnapshot {
  /** The chain's corroborated latest block; null while it is unknown. */
  readonly tip: number | null
  /** Time since the tip last rose; null while unknown. */
  readonly tipAgeMs: number | null
  /** The usual time between two blocks. */
  readonly blockTimeMs: number
  /** Reorgs that are unusual for the chain: `5 reorgs in 5 minutes, ...`; or null. */
  readonly reorgs: string | null
  readonly upstreams: readonly UpstreamSnapshot[]
}

/** Receives events of the upstreams of one chain and interface, for metrics and logs. */
export interface PoolObserver {
  /**
   * A state other than `cooldown` began. `cooldownBegan` covers that state.
   * @param to if eligible, `why` tells what ended the last state
   */
  stateChanged(upstream: string, from: UpstreamState, to: StateRecord): void
  /** A cooldown of a URL began, caused by an answer of its node. `url` is printable. */
  cooldownBegan(upstream: string, url: string, forMs: number, why: string): void
  /**
   * One of several URLs no longer serves, or serves again. Cooldowns are excluded.
   * @param serving such as `1 of 2 URLs`
   */
  urlChanged?(upstream: string, url: UrlRecord, serving: string): void
  /** A URL has used up its requests of the day. `url` is printable. */
  dayUsed?(upstream: string, url: string, why: string): void
  /** The router sent a probe. */
  probeSent?(upstream: string): void
  /** A URL answered a probe, or failed. @param position in the config, from 1 */
  probeEnded?(upstream: string, position: number, isFailed: boolean): void
  /** The router had no file, port or buffer left for a probe. @param code such as `EMFILE` */
  exhausted?(code: string): void
  verificationFailed(upstream: string, url: string, verification: string, why: string): void
  /** The chain replaced blocks that clients have seen. One interface of the chain reports it. */
  reorged?(reorg: Reorg): void
}
