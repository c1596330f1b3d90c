// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import type { Attempt } from './attempt.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

/** A transaction that is on its way is not called back because its client left. */
const never = new AbortController().signal

/**
 * Sends a write to every eligible upstream at once. The first success is the answer and the rest
 * run on; when all refuse, the first node's own error is. Where the client names an upstream, it
 * alone gets the write.
 */
export function broadcast(pool: Pool, attempt: Attempt): Step {
  return (next) => async (call) => {
    if (call.asked.kind !== 'write' || call.directives.selectProvider !== null) return next(call)
    const upstreams = pool.chooseAll(wantedBy(call))
    const sent: Call = { ...call, signal: never, attemptKind: 'broadcast' }
    const refused = await firstSuccess(upstreams.map((upstream) => attempt(sent, upstream)))
    // No node said anything: whoever is left, be it a backup or one on trial, is asked in turn.
    return refused ?? next(call)
  }
}

/** @returns the first success, else the first node's own refusal, else null */
function firstSuccess(attempts: readonly Promise<Reply>[]): Promise<Reply | null> {
  return new Promise((resolve, reject) => {
    let left = attempts.length
    let answer: Reply | null = null
    let refusal: Reply | null = null
    const ended = (reply: Reply | null) => {
      if (reply && !reply.isNodeError && answer === null) {
        answer = reply
        if (refusal) release(refusal.incoming.body)
        resolve(reply)
      } else if (reply && answer === null && refusal === null) refusal = reply
      else if (reply) release(reply.incoming.body)
      left -= 1
      if (left === 0) resolve(refusal)
    }
    if (left === 0) resolve(null)
    for (const each of attempts)
      each.then(ended, (error: unknown) => {
        if (error instanceof AttemptFailed) ended(error.reply)
        else reject(error)
      })
  })
}
