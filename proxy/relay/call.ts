// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { MethodSpec } from '../chain/types.ts'
import type { AgeClass } from '../config/types.ts'
import type { CancelSignal } from '../clock/cancellation.ts'
import type { Violation } from '../integrity/violation.ts'
import type { NodeUrl } from '../upstream/upstream.ts'
import type { Candidate } from '../upstream/candidates.ts'
import type { Weighed } from '../upstream/weights.ts'
import type { Incoming, Outgoing } from '../upstream/wire.ts'
import type { ReplyReader } from './reply.ts'

/**
 * One request of one client on its way through the relay, whatever its interface. Each item of a
 * JSON-RPC batch is one call.
 */
export interface Call {
  /** Unique; ties headers, logs and traces together. */
  readonly guid: string
  /** Its classification by the spec. */
  readonly method: MethodSpec
  /** The request to the upstream, the same for each attempt. */
  readonly request: Outgoing
  /** How to read an answer to it. */
  readonly reader: ReplyReader
  readonly directives: Directives
  /** Aborted when the reply is not wanted any more, for example since the client left. */
  readonly signal: CancelSignal
  /** What happened to it so far; written by the relay, read for headers, logs and metrics. */
  readonly journal: Journal
  /** The params without the id, as the client wrote them, to recognise the same call; absent: the whole body. */
  readonly payload?: Uint8Array | undefined
  /**
   * How the first attempt may share a request with others, if the relay sends it before it waits for
   * anything; absent: it is sent alone.
   */
  readonly shared?: { readonly send: Send; readonly others: number } | undefined
}

/** What the client asked of the router itself, by request headers. */
export interface Directives {
  /** `rpc-select-provider`: this upstream first. */
  readonly selectProvider: string | null
  /** `rpc-providers-block`: never these. */
  readonly blockProviders: readonly string[]
  /** Of no header: these alone, since a session, a filter, a vote or `rpc-min-block` wants them; null: any. */
  readonly only: readonly string[] | null
  /** `rpc-extension`: lower case; only upstreams that declare it. */
  readonly extension: string | null
  /** `rpc-relay-timeout`: per attempt, verbatim. */
  readonly relayTimeoutMs: number | null
  /** `rpc-debug-relay`: a log line per attempt. */
  readonly debugRelay: boolean
  /** `rpc-stickiness`: a digest of the session's id; the id itself is kept nowhere. */
  readonly stickiness: string | null
  /** `rpc-cross-validation-max-participants` and `rpc-cross-validation-agreement-threshold`. */
  readonly crossValidation: { readonly participants: number; readonly agreement: number } | null
  /** `rpc-min-block`: only upstreams that have this block. */
  readonly minBlock: number | null
  /** `rpc-force-cache-refresh`: no answer that was kept. */
  readonly refreshCache: boolean
  /** `traceparent` and `tracestate`: the trace that the client's request belongs to. */
  readonly trace: TraceContext | null
}

/** W3C Trace Context, as a client sent it and of valid form. */
export interface TraceContext {
  readonly parent: string
  /** Null where there is none. */
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

/** Sends a request to a URL. @throws TransportError */
export type Send = (url: NodeUrl, request: Outgoing, signal: CancelSignal) => Promise<Incoming>

/** It can be sent again: most bodies that stream can be read only once. */
export function isRepeatable({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array || body.isRepeatable === true
}

/**
 * It may be sent again after a node may have executed it. Not a write, and not a call about the state of
 * one node; but a filter may be created twice, since one that nobody uses expires by itself.
 */
export function maySendAgain({ method }: Pick<Call, 'method'>): boolean {
  return method.kind === 'read' || method.stateful === 'creates'
}

/** It is cheap: its time shows how fast a node is, and it delays no other item of its request. */
export function isLight({ method }: Pick<Call, 'method'>): boolean {
  return method.cost <= 20 && !method.waitsForBlock
}

/** It can be sent to several upstreams at once: all of its body is here. */
export function isWhole({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array
}

/** Observes what the relay does; metrics and logs are made from it. Must not throw. */
export interface RelayObserver {
  attemptEnded(call: Call, attempt: AttemptRecord): void
  breakerChanged(open: boolean): void
}

/** `failover`: the same upstream by another of its URLs. */
export type AttemptKind = 'first' | 'retry' | 'failover' | 'hedge' | 'broadcast'

/** One request to one upstream on behalf of a call. */
export interface AttemptRecord {
  readonly upstream: string
  /** The origin of its URL, as the config file has it: safe to print. */
  readonly origin: string
  readonly kind: AttemptKind
  /** On the clock's monotonic scale. */
  readonly startedMs: number
  /** After how long it is late, or fails; null until it is known. */
  budgetMs: number | null
  /** It has less time than usual, or may be a stream: being late is then no failure of the upstream. */
  isCutShort: boolean
  /** It is certain that the upstream never saw it. */
  isUnsent: boolean
  /** Null while it runs. Of an answer that streams, when its head was there. */
  endedMs: number | null
  /** Null until its end is known; `answer`; `node-error`: an error that is the node's own answer; else what failed. */
  result: 'answer' | 'node-error' | 'aborted' | FailureClass | null
  /** A few words for the log; holds no payload and no key. */
  detail: string | null
  /** What in the answer does not fit the request; null when nothing was found. */
  violation: Violation | null
  /** Another upstream showed the same violation, so this answer goes to its own caller only. */
  isDoubted: boolean
  /** It answered null for a block that exists. */
  missedBlock: boolean
  /** It returned nothing about a block that its node has or had. */
  isEmpty: boolean
  /** Null where no answer came. Also of gRPC, and of an error in JSON-RPC, it is 200 as a rule. */
  httpStatus: number | null
  /** Of the node's error; 0: none, in an answer that is all here; null: not known. */
  code: number | null
  /** All upstreams as the pick saw them that led to it; null where it was not drawn. */
  readonly considered: readonly Candidate[] | null
}

/** The outcome of a cross-validated call, by the names of upstreams. */
export interface CrossValidated {
  readonly agreeing: readonly string[]
  readonly disagreeing: readonly string[]
  /** All that were asked, absent ones included. */
  readonly all: readonly string[]
  /** The reason of the error; null: an answer was agreed on. */
  readonly failure: string | null
}

/** The sticky session of one call. */
export interface SessionNote {
  readonly node: string
  /** `known`: by an earlier call, or by another replica. */
  readonly choice: 'known' | 'new'
  /** It failed the call, so the next one of the session chooses again. */
  isDropped: boolean
  /** All upstreams as the choice saw them; null where it was made before. */
  readonly considered: readonly Candidate[] | null
}

/** What the cache did with one call. */
export interface CacheNote {
  readonly verdict: 'hit' | 'miss' | 'refresh' | 'coalesced' | 'bypass'
  /** How long its answers stay true; `none` where they are not kept. */
  readonly ageClass: AgeClass | 'none'
  /** Why it was bypassed, or why the answer was not kept; null where there is nothing to say. */
  readonly why: CacheWhy | null
}

/** What keeps an answer out of the cache. */
export type CacheWhy =
  | 'pending'
  | 'write'
  | 'method'
  | 'policy'
  | 'block-unknown'
  | 'empty'
  | 'error'
  | 'too-large'
  | 'store-down'
  | 'session'
  | 'cross-validation'
  | 'min-block'

/** What happened to one call. The relay writes it; response headers and logs are made from it. */
export class Journal {
  readonly startedMs: number
  readonly attempts: AttemptRecord[] = []
  /** When its client stops waiting, on the clock's monotonic scale. */
  clientDeadlineMs = Infinity
  /** The whole relay budget, in milliseconds. */
  budgetMs = Infinity
  /** Attempts of all kinds. A write has no limit: it goes to every upstream. */
  maxAttempts = Infinity
  /** The candidates of the last draw, where selection stats are enabled. */
  candidates: readonly Weighed[] | null = null
  /** What the last pick saw; null where there was none, or it was asked for by name. */
  considered: readonly Candidate[] | null = null
  /** Null: it belongs to no sticky session. */
  session: SessionNote | null = null
  /** Null: it was not cross-validated. */
  crossValidation: CrossValidated | null = null
  /** Null where there is no cache. */
  cache: CacheNote | null = null
  /**
   * It may be a stream, which may stay open and silent for as long as its client lets it. It has no
   * relay budget, and no upstream is late.
   */
  mayStream = false
  /** Its connection has other calls in flight, or it came in a batch. */
  isOneOfMany = false
  /** An upstream whose empty answer needs confirmation by another upstream; it is tried last. */
  unconfirmed: string | null = null
  /** Of the trace that has spans of it; null: none has; undefined: it is not known yet. Written by telemetry, for the log. */
  traceId: string | null | undefined = undefined

  constructor(startedMs: number) {
    this.startedMs = startedMs
  }

  /** When its time is used up, on the clock's monotonic scale. */
  get deadlineMs(): number {
    const relayDeadlineMs = this.mayStream ? Infinity : this.startedMs + this.budgetMs
    return Math.min(this.clientDeadlineMs, relayDeadlineMs)
  }

  begin(upstream: string, kind: AttemptKind, nowMs: number, origin = ''): AttemptRecord {
    const attempt: AttemptRecord = {
      upstream,
      origin,
      kind,
      startedMs: nowMs,
      budgetMs: null,
      isCutShort: false,
      isUnsent: false,
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

  /** Its time is used up, or its attempts are: none may begin any more. */
  isSpent(nowMs: number): boolean {
    return nowMs >= this.deadlineMs || this.attempts.length >= this.maxAttempts
  }

  /** Attempts after the first that were made because one failed. */
  get retries(): number {
    let retries = 0
    for (const { kind } of this.attempts) if (kind === 'retry') retries += 1
    return retries
  }

  /** Whether this upstream was asked already for this call. */
  tried(upstream: string): boolean {
    return this.attempts.some((attempt) => attempt.upstream === upstream)
  }
}
