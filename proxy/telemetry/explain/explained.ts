// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import type { AttemptRecord, Journal, SessionNote } from '../../relay/call.ts'
import type { Considered } from '../../upstream/pick.ts'
import { floorOf } from '../../upstream/weights.ts'
import { resultOf } from '../call-counters.ts'

/** A call that has ended. Of its request and its answer nothing is kept alive. */
export interface KeptCall {
  readonly guid: string
  readonly chain: string
  readonly interface: string
  /** Null: it was refused before it became a call. */
  readonly method: string | null
  /** As the label of `router_requests_total`. */
  readonly outcome: string
  readonly totalMs: number
  /** The router's own error; null where the upstream's answer was passed on. */
  readonly error: string | null
  /** The upstream whose answer the client got; null for none. */
  readonly answeredBy: string | null
  readonly journal: Journal
}

export type ExplainedCall = ReturnType<typeof explainCall>
export type ExplainedAttempt = ReturnType<typeof explainAttempt>
export type ExplainedCandidate = Considered & { readonly share: number }

/**
 * What happened to one call, as `/explain` answers it in JSON. Holds no parameter, no URL and no key. Upstreams are named as
 * in the config; times without a date are milliseconds.
 *
 * @param epochMs the beginning of the clock's monotonic scale
 */
export function explainCall({ journal, totalMs, ...call }: KeptCall, epochMs: number) {
  const { startedMs, attempts, retries, cache, session, crossValidation, considered } = journal
  const isUnserved = considered?.every(({ leftOut }) => leftOut !== null)
  return {
    ...call,
    at: new Date(epochMs + startedMs).toISOString(),
    totalMs: rounded(totalMs),
    retries,
    hedges: attempts.filter(({ kind }) => kind === 'hedge').length,
    /** Null where there is no cache. */
    cache,
    /** Null where it belongs to no sticky session. */
    session: session && explainSession(session),
    /** Null where it was not cross-validated. */
    crossValidation,
    attempts: attempts
      .slice(0, explainLimits.listed)
      .map((each) => explainAttempt(each, startedMs)),
    /** What the last pick saw that found no upstream; null where each found one. */
    unserved: isUnserved ? candidatesOf(considered) : null,
  }
}

function explainSession({ considered, ...session }: SessionNote) {
  return { ...session, candidates: candidatesOf(considered) }
}

function explainAttempt(attempt: AttemptRecord, callMs: number) {
  const { upstream, kind, startedMs, endedMs, budgetMs, detail, violation, considered } = attempt
  return {
    ...{ upstream, kind },
    /** After the beginning of the call. */
    startMs: rounded(startedMs - callMs),
    /** Null while it runs. Of an answer that streams, until its head was there. */
    tookMs: endedMs === null ? null : rounded(endedMs - startedMs),
    /** After how long it is late, or fails; null for never. */
    budgetMs: budgetMs !== null && Number.isFinite(budgetMs) ? rounded(budgetMs) : null,
    /** As the label of `router_attempts_total`. */
    result: resultOf(attempt),
    detail,
    /** Which check the answer did not pass, and by what. */
    violation: violation && { check: violation.check, detail: violation.detail },
    /** All upstreams as the pick saw them; null where none was drawn: asked for by name, or a write to all. */
    candidates: candidatesOf(considered),
  }
}

/** With what probability each was drawn, in [0, 1]: its `share`. */
function candidatesOf(seen: readonly Considered[] | null): readonly ExplainedCandidate[] | null {
  if (seen === null) return null
  const drawn = seen.filter(({ leftOut }) => leftOut === null)
  const floor = floorOf(drawn.map(({ weight }) => weight))
  const weightOf = ({ leftOut, weight }: Considered) =>
    leftOut === null ? Math.max(weight, floor) : 0
  const sum = seen.reduce((total, each) => total + weightOf(each), 0)
  return seen.map((each) => ({ ...each, share: weightOf(each) / (sum || 1) }))
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
