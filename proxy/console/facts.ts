// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The page `/facts` of the admin address: what `router top` and the page `/` are made from. Counters count since the
 * start of the process, so that a reader takes the difference of two looks. No URL with a key, no parameter of a call.
 */

/** By a word of the router, such as an outcome. */
export type Counts = Readonly<Record<string, number>>

/** One process at one instant. Times of the day are in ISO 8601. */
export interface Facts {
  readonly at: string
  /** Another one: the process was started anew, and its counters as well. */
  readonly started: string
  readonly version: string
  readonly config: {
    readonly sha256: string
    readonly since: string
    /** While the files say something that was refused. */
    readonly refused: { readonly why: string; readonly at: string } | null
  }
  readonly chains: readonly ChainFacts[]
}

/** One chain through one interface. Null where unknown, here and below. */
export interface ChainFacts {
  readonly chain: string
  readonly interface: string
  /** Where clients reach it. */
  readonly addresses: readonly string[]
  readonly tip: number | null
  /** Since the tip last rose. */
  readonly tipAgeSeconds: number | null
  /** The usual time between two blocks. */
  readonly blockSeconds: number
  /** Calls by their outcome. */
  readonly outcomes: Counts
  /** Calls that took at most so many seconds; under `+Inf` all. */
  readonly durations: Counts
  /** Calls by what the cache did with them. */
  readonly cache: Counts
  readonly upstreams: readonly UpstreamFacts[]
}

export interface UpstreamFacts {
  readonly name: string
  readonly tier: string
  readonly state: string
  /** A clause that says why it is in this state, or what it fails at while it serves. */
  readonly why: string | null
  readonly since: string
  /** When the state ends at the latest. */
  readonly until: string | null
  readonly latestBlock: number | null
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  /** Until the first of its URLs in cooldown may be asked again. */
  readonly cooldownSeconds: number | null
  /** Attempts by their kind, and by their result. */
  readonly attempts: Readonly<Record<string, Counts>>
  /** Attempts that took at most so many seconds; under `+Inf` all. */
  readonly durations: Counts
  /** What speaks against its answers: `violations`, `mismatches`, `missing-blocks`. */
  readonly disputes: Counts
}
