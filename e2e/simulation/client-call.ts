// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../../proxy/relay/call.ts'
import type { RelayError } from '../../proxy/relay/errors.ts'
import type { Reply } from '../../proxy/relay/reply.ts'
import type { Exchange } from './exchange.ts'
import type { Question } from './questions.ts'
import type { RequestPlan } from './schedule.ts'

/** How a call ended for its client. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'error'; readonly error: RelayError }
  | { readonly kind: 'abandoned' }
  /** A part of an answer came, and then the connection broke: nothing was taken for whole. */
  | { readonly kind: 'broken-off'; readonly reply: Reply }
  /** Something was thrown that no caller of the relay expects. */
  | { readonly kind: 'defect'; readonly thrown: unknown }

/** One call of one client, and what the simulation knows of it. */
export interface ClientCall {
  readonly id: string
  readonly plan: RequestPlan
  readonly question: Question
  readonly call: Call
  readonly startedMs: number
  readonly deadlineMs: number
  /** URLs, as they are printed, that were verified when it began. */
  readonly verified: ReadonlySet<string>
  /** In the order of their sending. */
  readonly exchanges: Exchange[]
  leftMs: number | null
  endedMs: number | null
  outcome: Outcome | null
}
