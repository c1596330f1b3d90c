// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import type { Attempt } from './attempt.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'
import { telling } from './telling.ts'

/** A transaction that is on its way is not called back because its client left. */
const never = new AbortController().signal

/**
 * Sends a write to every eligible upstream at once. The first success is the answer and the rest
 * run on; when all refuse, the most telling of their own errors is. Where the client names an upstream, it
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

/** @returns the first success, else the most telling refusal, the earliest of equals; else null */
function firstSuccess(attempts: readonly Promise<Reply>[]): Promise<Reply | null> {
  return new Promise((resolve, reject) => {
    let left = attempts.length
    let best: Reply | null = null
    const ended = (reply: Reply | null) => {
      if (telling(reply) > telling(best)) best = reply
      left -= 1
      if (left === 0) resolve(best)
    }
    if (left === 0) resolve(null)
    for (const each of attempts)
      each.then(
        (reply) => {
          if (reply.refusal === null) resolve(reply)
          else ended(reply)
        },
        (error: unknown) => {
          if (error instanceof AttemptFailed) ended(error.reply)
          else reject(error)
        },
      )
  })
}
