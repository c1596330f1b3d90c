// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CallEnd } from '../listener/observer.ts'
import type { Call } from '../relay/call.ts'
import type { AttemptRecord } from '../relay/journal.ts'
import type { Reply } from '../relay/reply.ts'

/** How a call ended, as a metric label and a word of the log: see the label's meaning in `series.ts`. */
export function outcomeOf(call: Call, end: CallEnd): string {
  if (end.kind === 'abandoned') return 'abandoned'
  if (end.kind === 'error') return end.error.kind.reason
  if (end.kind === 'subscription') return end.isRefused ? 'node-error' : 'success'
  return outcomeOfReply(call, end.reply)
}

/** What the attempt came to that the reply is from. */
function outcomeOfReply({ journal }: Call, { upstream, refusal }: Reply): string {
  const given = journal.attempts.findLast(
    (attempt) =>
      attempt.upstream === upstream && attempt.kind !== 'confirm' && attempt.result !== 'aborted',
  )
  // Nothing was sent: it is what the upstream said when it asked to be left alone.
  if (!given) return refusal ? 'held-off' : 'success'
  // A node that has the transaction already refused it; that it has it is the answer.
  if (given.result === 'node-error') return refusal ? 'node-error' : 'success'
  return typeof given.result === 'object' && given.result ? 'upstream-error' : 'success'
}

/** How an attempt ended, as a metric label and a word of the log. */
export function resultOf(attempt: AttemptRecord): string {
  if (attempt.result === null) return 'running'
  return typeof attempt.result === 'string' ? attempt.result : attempt.result.name
}

const fine = new Set(['success', 'node-error', 'abandoned'])
/** Whether an outcome is a failure of the service, and not the client's own doing. */
export function isFailure(outcome: string): boolean {
  return !fine.has(outcome)
}
