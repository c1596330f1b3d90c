// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CallEnd } from '../listener/listener.ts'
import type { AttemptRecord, Call } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'

/** How a call ended, as a metric label and a word of the log: see the label's meaning in `series.ts`. */
export function outcomeOf(call: Call, end: CallEnd): string {
  if (end.kind === 'abandoned') return 'abandoned'
  if (end.kind === 'error') return end.error.kind.reason
  if (end.kind === 'subscription') return end.isRefused ? 'node-error' : 'success'
  return outcomeOfReply(call, end.reply)
}

/** What came of the attempts at the upstream that the reply is from. */
function outcomeOfReply({ journal }: Call, { upstream, refusal, incoming }: Reply): string {
  const [first, second] = journal.attempts
  if (first?.result === 'answer' && second === undefined && refusal === null) return 'success'
  const made = journal.attempts.filter(
    (attempt) => attempt.upstream === upstream && attempt.result !== 'aborted',
  )
  const isGiven = made.some(({ result }) => result === 'node-error')
  // A node that has a transaction already refuses it; that it has it is the answer.
  if (refusal) return isGiven ? 'node-error' : 'upstream-error'
  if (isGiven || made.length === 0 || made.some(isAnswer)) return 'success'
  // An error page says what it is.
  if (incoming.status >= 300) return 'upstream-error'
  // Null of a block was asked for elsewhere in vain.
  return made.some(({ missedBlock }) => missedBlock) ? 'success' : 'upstream-error'
}

/** A stream that has not ended yet is one too. */
function isAnswer({ result, endedMs }: AttemptRecord): boolean {
  return result === 'answer' || (result === null && endedMs !== null)
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
