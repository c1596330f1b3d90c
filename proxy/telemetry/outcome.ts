// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CallEnd } from '../listener/observer.ts'
import type { Call } from '../relay/call.ts'
import type { AttemptRecord } from '../relay/journal.ts'

/** How a call ended, as a metric label and a word of the log: see the label's meaning in `series.ts`. */
export function outcomeOf(call: Call, end: CallEnd): string {
  if (end.kind === 'abandoned') return 'abandoned'
  if (end.kind === 'error') return end.error.kind.reason
  if (end.kind === 'subscription') return end.isRefused ? 'node-error' : 'success'
  const { attempts } = call.journal
  for (let at = attempts.length - 1; at >= 0; at -= 1) {
    const attempt = attempts[at] as AttemptRecord
    if (attempt.upstream !== end.reply.upstream || attempt.result === 'aborted') continue
    if (attempt.result === 'node-error') return 'node-error'
    return typeof attempt.result === 'object' && attempt.result ? 'upstream-error' : 'success'
  }
  return 'success'
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
