// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { release } from '../upstream/wire.ts'
import type { Attempt } from './attempt.ts'
import { AttemptFailed } from './attempt-failed.ts'
import { isWhole, type Call, type Late } from './call.ts'
import { CallAborted, RelayError, errorKinds } from './errors.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import { settle } from './settle.ts'
import type { Relay, Step } from './step.ts'
import { moreTelling, telling } from './telling.ts'

/** No answer to a write is doubted. */
const alike = () => 0
/** A transaction that is on its way is not called back because its client left. */
const never = new AbortController().signal

/**
 * Sends a write to every eligible upstream at once. The first success is the answer and the rest
 * run on. Who takes longer than usual holds nothing up, and may still have the word. When none
 * succeeds, the most telling of the nodes that refused it for good has the word; else whoever is left
 * is asked in turn. Where the client names an upstream, the others get the write when that one fails;
 * one alone gets it where it is a stream that still comes in.
 */
export function broadcast(pool: Pool, attempt: Attempt, clock: Clock): Step {
  return (next) => async (call) => {
    if (call.asked.kind !== 'write' || !isWhole(call)) return next(call)
    const slow = new SlowOnes()
    const ask = (on: Call, upstream: Upstream) =>
      slow.inTime((late) => attempt({ ...on, late }, upstream))
    return slow.beside(inTurn(next, call, pool, ask, clock))
  }
}

/** The one that is named, then all others, then whoever is left. */
async function inTurn(
  next: Relay,
  call: Call,
  pool: Pool,
  attempt: Attempt,
  clock: Clock,
): Promise<Reply> {
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
  // Nothing new is begun for a client that has left.
  if (call.signal.aborted) throw new CallAborted()
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

/** Attempts that take longer than usual. They go on, and the first success of all is the answer. */
class SlowOnes {
  readonly #running: Promise<Reply>[] = []
  /** What they brought while it was still wanted. */
  readonly #came: Reply[] = []
  readonly #success = Promise.withResolvers<Reply>()
  #isOver = false

  /** Ends as the attempt does, or as a failed one when it is late. */
  inTime(begin: (late: Late) => Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const attempt = begin((failed) => {
        this.#running.push(attempt)
        attempt.then(
          (reply) => {
            if (this.#isOver) return release(reply.incoming.body)
            this.#came.push(reply)
            if (reply.refusal === null) this.#success.resolve(reply)
          },
          () => {},
        )
        reject(failed)
      })
      attempt.then(resolve, reject)
    })
  }

  /** The outcome, or the success of one that was late; where there is none, late ones are waited for. */
  async beside(outcome: Promise<Reply>): Promise<Reply> {
    const waiting = outcome.catch(async (error: unknown) => {
      const found = await firstSuccess(this.#running)
      if (found === null || found instanceof AttemptFailed) throw error
      return found
    })
    let first: Reply | null = null
    // Whatever else came, or comes, is no longer wanted.
    const drop = ({ incoming: { body } }: Reply) => {
      if (body !== first?.incoming.body) release(body)
    }
    try {
      first = await Promise.race([this.#success.promise, waiting])
      return first
    } finally {
      this.#isOver = true
      this.#came.forEach(drop)
      void waiting.then(drop, () => {})
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
          if (speaksAgainst(reply) && isHere(reply)) objection ??= reply
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

function speaksAgainst({ refusal }: Reply): boolean {
  return refusal?.transaction === 'refused' || refusal?.transaction === 'used'
}

/** All of it, so that nothing has to be let go. */
function isHere({ incoming: { body } }: Reply): boolean {
  return body instanceof Uint8Array
}
