// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import type { FailedCall } from '../../console/replicas.ts'
import type { AttemptKind, CacheNote, CrossValidated, SessionNote } from '../../relay/call.ts'
import type { Considered } from '../../upstream/pick.ts'

/** What `/explain/<guid>`, `/explain?failed` and `/explain?slow` answer, as JSON. Holds no parameter, no URL and no key. */
export interface Explained {
  /** The newest first. */
  readonly calls: readonly ExplainedCall[]
  /** How many more there are beyond the limit. */
  readonly more: number
}

/** What happened to one call. Upstreams are named as in the config; times without a date are milliseconds. */
export interface ExplainedCall extends FailedCall {
  readonly interface: ApiInterface
  /** The upstream whose answer the client got; null for none. */
  readonly answeredBy: string | null
  readonly retries: number
  readonly hedges: number
  /** Null where there is no cache. */
  readonly cache: CacheNote | null
  /** Null where it belongs to no sticky session. */
  readonly session: (Omit<SessionNote, 'considered'> & Pick<ExplainedAttempt, 'candidates'>) | null
  /** Null where it was not cross-validated. */
  readonly crossValidation: CrossValidated | null
  readonly attempts: readonly ExplainedAttempt[]
  /** What the last pick saw that found no upstream; null where each found one. */
  readonly unserved: readonly ExplainedCandidate[] | null
}

export interface ExplainedAttempt {
  readonly upstream: string
  readonly kind: AttemptKind
  /** After the beginning of the call. */
  readonly startMs: number
  /** Null while it runs. Of an answer that streams, until its head was there. */
  readonly tookMs: number | null
  /** After how long it is late, or fails; null for never. */
  readonly budgetMs: number | null
  /** As the label of `router_attempts_total`. */
  readonly result: string
  readonly detail: string | null
  /** Which check the answer did not pass, and by what. */
  readonly violation: { readonly check: string; readonly detail: string } | null
  /** All upstreams as the pick saw them; null where none was drawn: asked for by name, or a write to all. */
  readonly candidates: readonly ExplainedCandidate[] | null
}

export interface ExplainedCandidate extends Considered {
  /** With what probability it was drawn, in [0, 1]. */
  readonly share: number
}
