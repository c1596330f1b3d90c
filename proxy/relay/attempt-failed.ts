// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Reply } from './reply.ts'

/** One attempt gave no answer for the client. Between the steps only: `retry` settles it. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly failure: FailureClass
  /** The upstream's own error, to be passed on when nothing better comes. */
  readonly reply: Reply | null
  /** False only when it is certain that the upstream never saw the request. */
  readonly sent: boolean

  constructor(upstream: string, failure: FailureClass, reply: Reply | null, sent: boolean) {
    super(`${upstream}: ${failure.name}`)
    this.failure = failure
    this.reply = reply
    this.sent = sent
  }
}
