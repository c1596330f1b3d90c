// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { MethodSpec } from '../chain/types.ts'
import type { AgeClass } from '../config/types.ts'
import type { CancelSignal } from '../clock/cancellation.ts'
import type { Violation } from '../integrity/violation.ts'
import type { Candidate } from '../upstream/candidates.ts'
import type { Weighed } from '../upstream/weights.ts'
import type { Outgoing } from '../upstream/wire.ts'
import type { ReplyReader } from './reply.ts'

/**
 * One client request in the relay, independent of the interface. Each item of a JSON-RPC batch is
 * one call.
 */
export interface Call {
  /** Unique ID in headers, logs and traces. */
  readonly guid: string
  /** The method as the spec classifies it. */
  readonly method: MethodSpec
  /** The request to the upstream, identical for each attempt. */
  readonly request: Outgoing
  /** Reads answers to this call. */
  readonly reader: ReplyReader
  readonly directives: Directives
  /** Aborted when the reply is no longer needed, for example after a disconnect. */
  readonly signal: CancelSignal
  /** Events of the call, written by the relay for headers, logs and metrics. */
  readonly journal: Journal
  /** The client's params without the id, for deduplication; if absent, the whole body is used. */
  readonly payload?: Uint8Array | undefined
  /** Absent for the router's own calls. */
  readonly client?: Client | undefined
}

/** Who sent a request. All of it comes from strangers: bound and clean it before it is shown. */
export interface Client {
  /** The IP address; behind trusted proxies, the one that they name. */
  readonly address: string
  readonly userAgent: string | null
  /** Without its query, in which keys are common. */
  readonly path: string
}

/** Instructions of the client to the router, from request headers. */
export interface Directives {
  /** `rpc-select-provider`: the upstream to try first. */
  readonly selectProvider: string | null
  /** `rpc-providers-block`: upstreams to exclude. */
  readonly blockProviders: readonly string[]
  /** Allowed upstreams, set by a session, filter, vote or `rpc-min-block`; null for any. */
  readonly only: readonly string[] | null
  /** `rpc-extension` in lower case: an extension that the upstream must declare. */
  readonly extension: string | null
  /** `rpc-relay-timeout`: timeout per attempt, unchanged. */
  readonly relayTimeoutMs: number | null
  /** `rpc-debug-relay`: log each attempt. */
  readonly debugRelay: boolean
  /** `rpc-stickiness`: digest of the session ID, which itself is never stored. */
  readonly stickiness: string | null
  /** `rpc-cross-validation-max-participants` and `rpc-cross-validation-agreement-threshold`. */
  readonly crossValidation: { readonly participants: number; readonly agreement: number } | null
  /** `rpc-min-block`: the upstream must have this block. */
  readonly minBlock: number | null
  /** `rpc-force-cache-refresh`: skip cached answers. */
  readonly refreshCache: boolean
  /** `traceparent` and `tracestate` of the client's request. */
  readonly trace: TraceContext | null
}

/** Valid W3C Trace Context of a client. */
export interface TraceContext {
  readonly parent: string
  /** Null if the client sent none. */
  readonly state: string | null
}

export const noDirectives: Directives = {
  selectProvider: null,
  blockProviders: [],
  only: null,
  extension: null,
  relayTimeoutMs: null,
  debugRelay: false,
  stickiness: null,
  crossValidation: null,
  minBlock: null,
  refreshCache: false,
  trace: null,
}

/** Whether the request can be sent again: most streamed bodies can be read only once. */
export function isRepeatable({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array || body.isRepeatable === true
}

/**
 * Whether it certainly changes nothing, so that it may reach several nodes. A method that the spec
 * does not name is a read only by its name.
 */
export function isRead({ method }: Pick<Call, 'method'>): boolean {
  return method.kind === 'read' && (method.known || method.looksLikeRead === true)
}

/**
 * Whether the call may be repeated after a node may have executed it. Writes and calls about the
 * state of one node may not. A filter may be created twice, since unused filters expire.
 */
export function maySendAgain(call: Pick<Call, 'method'>): boolean {
  return isRead(call) || call.method.stateful === 'creates'
}

/** Whether the call is cheap, so that its latency is comparable and it delays no batch. */
export function isLight({ method }: Pick<Call, 'method'>): boolean {
  return method.cost <= 20 && !method.waitsForBlock
}

/** Whether the whole body is in memory, so that several upstreams can get it at once. */
export function isWhole({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array
}

/** Receives events of the relay for metrics and logs. Must not throw. */
export interface RelayObserver {
  attemptEnded(call: Call, attempt: AttemptRecord): void
  breakerChanged(open: boolean): void
  /**
   * Logs of final blocks are wrong. `wrong` names the upstream whose logs contradict a header or a
   * third upstream; `undecided` names two upstreams that differ where neither decides.
   */
  logsMismatched?(call: Call, upstreams: readonly string[], verdict: LogsVerdict): void
}

export const logsVerdicts = ['wrong', 'undecided'] as const
export type LogsVerdict = (typeof logsVerdicts)[number]

/** Reason for an attempt; `failover` is another URL of the same upstream. */
export const attemptKinds = ['first', 'retry', 'failover', 'hedge', 'broadcast'] as const
export type AttemptKind = (typeof attemptKinds)[number]

/** `overtaken`: another attempt of the call answered first; `aborted`: no client waits for it. */
export type Cancelled = 'overtaken' | 'aborted'

export function isCancelled(result: AttemptRecord['result']): result is Cancelled {
  return result === 'overtaken' || result === 'aborted'
}

/** Record of one request to one upstream on behalf of a call. */
export interface AttemptRecord {
  readonly upstream: string
  /** The URL as written in the config file: safe to print. */
  readonly origin: string
  /** Position of the URL in the config, from 1. */
  readonly position: number
  readonly kind: AttemptKind
  /** On the clock's monotonic scale. */
  readonly startedMs: number
  /** Time after which it is late, or fails; null until known. */
  budgetMs: number | null
  /** It has less time than usual, or may be a stream, so lateness is not the upstream's failure. */
  isCutShort: boolean
  /** The upstream certainly never received it. */
  isUnsent: boolean
  /** It was overtaken before it took longer than the upstream usually does. */
  isLostRace: boolean
  /** Null while it runs. For a streamed answer, the time when its head arrived. */
  endedMs: number | null
  /** Null while it runs; `node-error` is an error that the node itself returns. */
  result: 'answer' | 'node-error' | Cancelled | FailureClass | null
  /** Short text for the log, without payloads and keys. */
  detail: string | null
  /** Mismatch between the answer and the request; null if there is none. */
  violation: Violation | null
  /** Another upstream returned the same violation, so only this caller gets the answer. */
  isDoubted: boolean
  /** The node returned null for a block that exists. */
  missedBlock: boolean
  /** The node returned an empty result about a block that it has or had. */
  isEmpty: boolean
  /** Null without an answer. Usually 200 for gRPC and for JSON-RPC errors. */
  httpStatus: number | null
  /** Code of the node's error; 0 for a complete answer without one; null if unknown. */
  code: number | null
  /** All upstreams at the time of the selection; null if there was none. */
  readonly considered: readonly Candidate[] | null
}

/** Outcome of a cross-validated call, with the names of upstreams. */
export interface CrossValidated {
  readonly agreeing: readonly string[]
  readonly disagreeing: readonly string[]
  /** All participants, including those that did not answer. */
  readonly all: readonly string[]
  /** Reason of the error; null if the upstreams agreed. */
  readonly failure: string | null
}

/** The sticky session of one call. */
export interface SessionNote {
  readonly node: string
  /** `known` if an earlier call or another replica made the choice. */
  readonly choice: 'known' | 'new'
  /** The node failed the call, so the next call of the session selects a new node. */
  isDropped: boolean
  /** All upstreams at the time of the choice; null if it was made earlier. */
  readonly considered: readonly Candidate[] | null
}

/** What the cache did with one call. */
export interface CacheNote {
  readonly verdict: 'hit' | 'miss' | 'refresh' | 'coalesced' | 'bypass'
  /** How long its answers stay valid; `none` if they are not cached. */
  readonly ageClass: AgeClass | 'none'
  /** Why the cache was bypassed or did not store the answer; null otherwise. */
  readonly why: CacheWhy | null
}

/** How a query for the logs of a range of blocks was answered. */
export interface LogsNote {
  /** Blocks of the query. */
  readonly blocks: number
  /** Blocks whose logs were cached. */
  cachedBlocks: number
  /** Blocks of all requests to upstreams. */
  requestedBlocks: number
  requests: number
  /** Blocks whose logs a second upstream has returned too. */
  verifiedBlocks: number
  /** Blocks requested from two upstreams whose logs differ, with nothing to decide between them. */
  disputedBlocks: number
  /** Upstreams whose logs contradict the header of a block. */
  readonly wrong: string[]
  /** Its logs are all cached in slices, so the answer itself is not. */
  isStored: boolean
}

/** Why an answer is not cached. */
export type CacheWhy =
  | 'pending'
  | 'write'
  | 'method'
  | 'policy'
  | 'block-unknown'
  | 'empty'
  | 'error'
  | 'too-large'
  | 'slices'
  | 'store-down'
  | 'session'
  | 'cross-validation'
  | 'min-block'

/** Events of one call. The relay writes them; response headers and logs read them. */
export class Journal {
  readonly startedMs: number
  readonly attempts: AttemptRecord[] = []
  /** Deadline of the client, on the clock's monotonic scale. */
  clientDeadlineMs = Infinity
  /** Time budget of the relay, in milliseconds. */
  budgetMs = Infinity
  /** Limit of attempts of all kinds. A write has none, since it goes to every upstream. */
  maxAttempts = Infinity
  /** Candidates of the last selection, if selection stats are enabled. */
  candidates: readonly Weighed[] | null = null
  /** All upstreams at the last selection; null if there was none or the client named one. */
  considered: readonly Candidate[] | null = null
  /** Null without a sticky session. */
  session: SessionNote | null = null
  /** Null without cross-validation. */
  crossValidation: CrossValidated | null = null
  /** Null without a cache. */
  cache: CacheNote | null = null
  /** Null unless the call is a query for the logs of a range. */
  logs: LogsNote | null = null
  /**
   * The answer may be a stream, which the client may leave open and idle. It has no relay budget,
   * and no attempt is late.
   */
  mayStream = false
  /** Its connection has other calls in flight, or it is part of a batch. */
  isOneOfMany = false
  /** A refusal of its block range ends the relay, because the caller asks for smaller ranges. */
  isCuttable = false
  /** Upstream whose empty answer needs confirmation by another one; it is tried last. */
  unconfirmed: string | null = null
  /** ID of the exported trace, for the log; null without one, undefined until it is known. */
  traceId: string | null | undefined = undefined

  constructor(startedMs: number) {
    this.startedMs = startedMs
  }

  /** The earlier deadline of client and relay, on the clock's monotonic scale. */
  get deadlineMs(): number {
    const relayDeadlineMs = this.mayStream ? Infinity : this.startedMs + this.budgetMs
    return Math.min(this.clientDeadlineMs, relayDeadlineMs)
  }

  begin(
    upstream: string,
    kind: AttemptKind,
    nowMs: number,
    origin = '',
    position = 1,
  ): AttemptRecord {
    const attempt: AttemptRecord = {
      upstream,
      origin,
      position,
      kind,
      startedMs: nowMs,
      budgetMs: null,
      isCutShort: false,
      isUnsent: false,
      isLostRace: false,
      endedMs: null,
      result: null,
      detail: null,
      violation: null,
      isDoubted: false,
      missedBlock: false,
      isEmpty: false,
      httpStatus: null,
      code: null,
      considered: this.considered,
    }
    this.attempts.push(attempt)
    return attempt
  }

  /** Whether its time or its attempts are used up, so that no attempt may begin. */
  isSpent(nowMs: number): boolean {
    return nowMs >= this.deadlineMs || this.attempts.length >= this.maxAttempts
  }

  /** Number of attempts that followed a failure. */
  get retries(): number {
    let retries = 0
    for (const { kind } of this.attempts) if (kind === 'retry') retries += 1
    return retries
  }

  /** Whether an attempt at this upstream has begun. */
  tried(upstream: string): boolean {
    return this.attempts.some((attempt) => attempt.upstream === upstream)
  }
}
