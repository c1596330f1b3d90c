// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Pool } from '../upstream/pool.ts'
import { release } from '../upstream/wire.ts'
import type { Attempt } from './attempt.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isWhole, type Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import { settle } from './retry.ts'
import type { Step } from './step.ts'
import { moreTelling, telling } from './telling.ts'

/** No answer to a write is doubted. */
const alike = () => 0
/** A transaction that is on its way is not called back because its client left. */
const never = new AbortController().signal

/**
 * Sends a write to every eligible upstream at once. The first success is the answer and the rest
 * run on. When none succeeds, the most telling of the nodes that refused it for good has the word; else whoever is left is
 * asked in turn. Where the client names an upstream, the others get the write when that one fails; one
 * alone gets it where it is a stream that still comes in.
 */
export function broadcast(pool: Pool, attempt: Attempt, clock: Clock): Step {
  return (next) => async (call) => {
    if (call.asked.kind !== 'write' || !isWhole(call)) return next(call)
    const named = pool.preferred(wantedBy(call))
    const first: Call = { ...call, signal: never }
    const told = named && (await firstSuccess([attempt(first, named)]))
    if (told !== null && !(told instanceof AttemptFailed)) return told
    // The one that was named may have used the time up.
    const isOver = call.journal.isSpent(clock.nowMs())
    const others = isOver ? [] : pool.chooseAll(wantedBy(call)).filter((each) => each !== named)
    const sent: Call = { ...first, attemptKind: 'broadcast' }
    const found = await firstSuccess(others.map((upstream) => attempt(sent, upstream)))
    if (found !== null && !(found instanceof AttemptFailed)) return found
    const outcome = found ? moreTelling(told, found, alike) : told
    try {
      // Nobody took it, and nobody said why for good: a backup or one on trial may.
      return await next(call)
    } catch (error) {
      if (outcome === null || !(error instanceof RelayError)) throw error
      const nobodyLeft = error.kind === errorKinds.noUpstream
      if (outcome.reply === null && !nobodyLeft) throw error
      return settle(outcome, call, null)
    }
  }
}

/**
 * @returns the first success, else the most telling refusal for good, else the most telling failure.
 * That a transaction is known is told along with what speaks against it.
 */
function firstSuccess(attempts: readonly Promise<Reply>[]): Promise<Reply | AttemptFailed | null> {
  return new Promise((resolve, reject) => {
    let left = attempts.length
    let answer: Reply | null = null
    let refusal: Reply | null = null
    let objection: Reply | null = null
    let failed: AttemptFailed | null = null
    const ended = () => {
      left -= 1
      if (left > 0) return
      const isKnown = refusal?.refusal?.transaction === 'known'
      resolve(refusal && isKnown && objection ? { ...refusal, objection } : (refusal ?? failed))
    }
    if (left === 0) resolve(null)
    for (const each of attempts)
      each.then(
        (reply) => {
          if (answer === null && reply.refusal === null) {
            answer = reply
            if (refusal) release(refusal.incoming.body)
            return resolve(reply)
          }
          // It may still be the better one when the other turns out not to be true.
          if (reply.refusal?.transaction === 'refused' && isHere(reply)) objection ??= reply
          const isBetter = answer === null && telling(reply) > telling(refusal)
          const lesser = isBetter ? refusal : reply
          if (isBetter) refusal = reply
          if (lesser) release(lesser.incoming.body)
          ended()
        },
        (error: unknown) => {
          if (!(error instanceof AttemptFailed)) return reject(error)
          failed = moreTelling(failed, error, alike)
          ended()
        },
      )
  })
}

/** All of it, so that nothing has to be let go. */
function isHere({ incoming: { body } }: Reply): boolean {
  return body instanceof Uint8Array
}
