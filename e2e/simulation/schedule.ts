// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RelayConfig, Tier } from '../../proxy/config/types.ts'
import type { LieKind } from './lies.ts'

/*
 * What a seed stands for: everything that happens from outside of the engine, as plain data. A part
 * of it can be left out and the rest stays as it was, so that a failing schedule can be made shorter.
 */

export interface Schedule {
  readonly seed: number
  /** Virtual time in which clients ask. */
  readonly durationMs: number
  readonly settings: Settings
  readonly chain: ChainPlan
  readonly nodes: readonly NodePlan[]
  readonly requests: readonly RequestPlan[]
  /** Real metrics listen, and are compared with what happened. */
  readonly withMetrics: boolean
}

/** The operator's settings. */
export interface Settings {
  readonly relay: RelayConfig
  readonly failureThreshold: number
  readonly maxSessions: number
  readonly healthCheckIntervalMs: number
  readonly livenessProbeIntervalMs: number | null
  readonly epochDurationMs: number
}

export interface ChainPlan {
  readonly blockTimeMs: number
  /** No block is mined from `fromMs` to `untilMs`. */
  readonly halt: Span | null
  /** The newest `depth` blocks are replaced at `atMs`. */
  readonly reorgs: readonly { readonly atMs: number; readonly depth: number }[]
}

/** From `fromMs` on, before `untilMs`. */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

/** One upstream. */
export interface NodePlan {
  readonly name: string
  readonly tier: Tier
  readonly urls: readonly UrlPlan[]
}

/** One URL and the machine behind it. */
export interface UrlPlan {
  readonly timeoutMs: number | null
  readonly addons: readonly string[]
  /** It says that it is on another chain. */
  readonly isForeign: boolean
  readonly lagBlocks: number
  readonly latency: LatencyPlan
  readonly ailments: readonly Ailment[]
}

/** Log-normal around the median, with a share of answers that take many times as long. */
export interface LatencyPlan {
  readonly medianMs: number
  readonly spread: number
  readonly tailShare: number
  readonly tailFactor: number
}

/** What ails a URL for a while. It strikes a `share` of the requests. */
export type Ailment = Span & { readonly share: number } & Illness

/** In which words an error is told: a node's, nobody's, or those of a gateway before it. */
export type ErrorWords = 'internal' | 'unknown' | 'gateway'

export type Illness =
  /** Nobody listens. */
  | { readonly kind: 'refuse' }
  /** What is under way is reset, then nobody listens. */
  | { readonly kind: 'crash' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'protocol' }
  /** More bytes than the router takes: no other upstream could do better. */
  | { readonly kind: 'too-large' }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'slow'; readonly addMs: number }
  /** HTTP 429; `retryAfterSeconds` as seconds or as a date. */
  | {
      readonly kind: 'rate-limit'
      readonly retryAfterSeconds: number | null
      readonly asDate: boolean
      readonly dressed: 'json' | 'html'
    }
  /** The plan is used up, with HTTP 200. */
  | { readonly kind: 'quota' }
  | { readonly kind: 'status'; readonly status: number; readonly body: 'html' | 'empty' }
  /** An internal error of the node, with HTTP 200. */
  | { readonly kind: 'error'; readonly words: ErrorWords }
  | { readonly kind: 'lag'; readonly blocks: number }
  /** Its head does not move. */
  | { readonly kind: 'freeze' }
  /** Of the lies, the first one that has something to say about a call. */
  | { readonly kind: 'lie'; readonly lies: readonly LieKind[] }

/** One question of one client. Blocks are told by their distance from the head at that moment. */
export interface RequestPlan {
  readonly atMs: number
  readonly method: string
  /** Blocks below the head that it is about; null: it says `latest`. */
  readonly depth: number | null
  /** Chooses among addresses, transactions and the like. */
  readonly pick: number
  /** The client gives up after so long; null: it waits. */
  readonly leavesAfterMs: number | null
  readonly selectProvider: string | null
  readonly blockProviders: readonly string[]
  readonly relayTimeoutMs: number | null
  /** So much longer it takes on every node. */
  readonly heavyMs: number
}
