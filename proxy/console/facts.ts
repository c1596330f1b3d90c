// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The page `/facts` of the admin address: what `router top` and the page `/` are made from. Counters count since the
 * start of the process, so that a reader takes the difference of two looks. No URL with a key, no parameter of a call.
 */

/** By a word of the router, such as an outcome. */
export type Counts = Readonly<Record<string, number>>
/** Counts by what is counted; absent while nothing was. */
export type Tables = Readonly<Record<string, Counts>>

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
  /** `ETH1 jsonrpc` */
  readonly name: string
  /** Where clients reach it. */
  readonly addresses: readonly string[]
  readonly tip: number | null
  /** Since the tip last rose. */
  readonly tipAgeSeconds: number | null
  /** The usual time between two blocks. */
  readonly blockSeconds: number
  /**
   * Calls: `outcomes` by their outcome, `cache` by what the cache did with them, `durations` by a bound in seconds
   * that they did not exceed, `+Inf` for all.
   */
  readonly counts: Tables
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
  /**
   * Attempts: `attempts` by their kind and result (`hedge answer`), `durations` as of calls. What speaks against its
   * answers: `violations` by the check, `mismatches`, `missing-blocks`.
   */
  readonly counts: Tables
}
