// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Violation } from '../integrity/violation.ts'
import type { TransportError } from '../upstream/transport.ts'
import type { Reply } from './reply.ts'

/** One attempt gave no answer for the client. */
export interface FailedAttempt {
  readonly failure: FailureClass
  /** What may be passed on when nothing better comes. */
  readonly reply: Reply | null
  /** Why no complete answer came; null when one did. */
  readonly fault: TransportError | null
  /** What in the answer cannot be true. */
  readonly violation: Violation | null
}

export type Outcome = Reply | FailedAttempt

export function isFailed(outcome: Outcome): outcome is FailedAttempt {
  return 'failure' in outcome
}
