// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Candidate } from '../upstream/weights.ts'
import type { Violation } from '../integrity/violation.ts'

/** `failover`: the same upstream by another of its URLs. */
export type AttemptKind = 'first' | 'retry' | 'failover' | 'hedge' | 'broadcast'

/** One request to one upstream on behalf of a call. */
export interface AttemptRecord {
  readonly upstream: string
  readonly kind: AttemptKind
  /** On the clock's monotonic scale. */
  readonly startedMs: number
  /** How long it may take, or after how long it is late; null until it is known. */
  budgetMs: number | null
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
  /** It answered null for a block that the tip says exists. */
  missedBlock: boolean
}

/** What happened to one call. The relay adds to it; the response headers and the log tell of it. */
export class Journal {
  readonly startedMs: number
  readonly attempts: AttemptRecord[] = []
  /** When its client stops waiting, on the clock's monotonic scale. */
  clientDeadlineMs = Infinity
  /** The whole relay budget, in milliseconds. */
  budgetMs = Infinity
  /** Attempts of all kinds. A write has no limit: it goes to every upstream, but to none twice. */
  maxAttempts = Infinity
  /** Among whom the last upstream was drawn, where that is asked for. */
  candidates: readonly Candidate[] | null = null
  /**
   * It may be a stream, which rests for as long as its client lets it: it has no relay budget, and no
   * upstream is late.
   */
  mayRest = false

  constructor(startedMs: number) {
    this.startedMs = startedMs
  }

  /** When its time is used up, on the clock's monotonic scale. */
  get deadlineMs(): number {
    return Math.min(this.clientDeadlineMs, this.mayRest ? Infinity : this.startedMs + this.budgetMs)
  }

  begin(upstream: string, kind: AttemptKind, nowMs: number): AttemptRecord {
    const attempt: AttemptRecord = {
      upstream,
      kind,
      startedMs: nowMs,
      budgetMs: null,
      isUnsent: false,
      endedMs: null,
      result: null,
      detail: null,
      violation: null,
      missedBlock: false,
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

  /** Asked once already on behalf of this call. */
  tried(upstream: string): boolean {
    return this.attempts.some((attempt) => attempt.upstream === upstream)
  }
}
