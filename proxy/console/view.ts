// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, UpstreamFacts } from './facts.ts'

/** Rates, ratios and quantiles of a time, over all replicas: what console and page show. Null: unknown, or no calls. */
export interface View {
  /** ISO 8601. */
  readonly at: string
  /** How long the time is that rates are of. */
  readonly seconds: number
  readonly replicas: readonly Replica[]
  /** The worst first. */
  readonly problems: readonly Problem[]
  readonly chains: readonly ChainView[]
}

export interface Replica {
  readonly at: string
  readonly version: string | null
  /** Why it does not answer. */
  readonly problem: string | null
  /** Why it does not serve the config that its files have. */
  readonly refused: string | null
}

/** Of calls, or of attempts. */
export interface Traffic {
  readonly perSecond: number
  readonly p50Seconds: number | null
  readonly p99Seconds: number | null
  readonly errorRatio: number | null
  /** Of that time, by class, the most frequent first. */
  readonly errors: readonly (readonly [word: string, count: number])[]
  readonly count: number
}

/** Of the numbers of its replicas the highest, or the lowest age and score. */
export interface ChainView
  extends Traffic, Omit<ChainFacts, 'outcomes' | 'durations' | 'cache' | 'upstreams'> {
  readonly cacheRatio: number | null
  /** How many of its upstreams serve, at the replica where they are the fewest. */
  readonly serving: number
  readonly upstreams: readonly UpstreamView[]
}

/** The state is that of the replica where it is the worst. */
export interface UpstreamView extends Traffic, Omit<UpstreamFacts, 'attempts' | 'durations'> {
  /** Replicas where it is in this state, and those that have it. */
  readonly replicas: { readonly so: readonly string[]; readonly all: number }
  /** Of the attempts at the upstreams of its chain. */
  readonly share: number | null
  readonly retries: number
  readonly hedges: number
  /** Hedges that answered first. */
  readonly hedgesWon: number
  /** First attempts that were given up, since a hedge answered first or the client left. */
  readonly aborted: number
}

/** Something that is wrong, as one line for who was woken by it. */
export interface Problem {
  /** `down`: calls fail. `bad`: an upstream is out of service. `odd`: it serves, but not well. */
  readonly severity: 'down' | 'bad' | 'odd'
  /** `ETH1 jsonrpc`, or the address of a replica. */
  readonly where: string
  /** Null: not of one alone. */
  readonly upstream: string | null
  readonly what: string
  /** ISO 8601; null where it is not known. */
  readonly since: string | null
}

/** From the best to the worst. */
const states = ['eligible', 'lagging', 'held-off', 'unverified', 'disabled', 'rejected']
/** How bad a state is, 0 for the best; a word that is not known is the worst. */
export function badnessOf(state: string): number {
  return (states.indexOf(state) + 1 || states.length + 1) - 1
}

export function isServing({ state }: { readonly state: string }): boolean {
  return badnessOf(state) < 2
}
