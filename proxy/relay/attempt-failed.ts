// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { TransportError } from '../upstream/transport.ts'
import type { Reply } from './reply.ts'

/** One attempt gave no answer for the client. Between the steps only: `retry` settles it. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly failure: FailureClass
  /** The upstream's own error, to be passed on when nothing better comes. */
  readonly reply: Reply | null
  /** Why no complete answer came; null when one did. */
  readonly fault: TransportError | null

  constructor(failure: FailureClass, reply: Reply | null, fault: TransportError | null) {
    super(failure.name, { cause: fault })
    this.failure = failure
    this.reply = reply
    this.fault = fault
  }

  /** False only when it is certain that the upstream never saw the request. */
  get sent(): boolean {
    return this.fault?.sent ?? true
  }

  /** By how many blocks the answer is off the tip; 0 for all but those that failed for that. */
  get blocksOff(): number {
    return 0
  }

  /** A repetition after it counts among the retries. */
  get costsRetry(): boolean {
    return this.sent
  }

  get timedOut(): boolean {
    return this.fault?.fault === 'timeout'
  }
}
