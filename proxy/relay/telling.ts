// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AttemptFailed } from './attempt-failed.ts'
import type { Reply } from './reply.ts'

/**
 * How much an upstream's reply tells the client, the higher the better: nothing, an error page, a
 * limit of the provider, trouble of the upstream's own, an error that another node might not have,
 * the node's own answer, what is wrong with the transaction, that its nonce is used, that it is known,
 * an answer after all.
 */
export function telling(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 9 : 1
  if (refusal.transaction === 'known') return 8
  if (refusal.transaction === 'used') return 7
  if (refusal.transaction === 'refused') return 6
  if (refusal.holdOff) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}

/** A page, or an error of the upstream's own trouble, passed on for want of anything better. */
export function tellsOfTrouble(reply: Reply): boolean {
  return [1, 3].includes(telling(reply))
}

/** How much an upstream is to be believed, the higher the more. */
export type TrustIn = (upstream: string) => number

/**
 * Of two failures the one that tells the client more. An answer that is only doubted comes before
 * null from one that may lack the block; of two that are doubted, the word of whom there is more
 * trust in; of two that are off the tip, the nearer; of equals the later.
 */
export function moreTelling(
  best: AttemptFailed | null,
  failed: AttemptFailed,
  trustIn: TrustIn,
): AttemptFailed {
  if (best === null) return failed
  if (best.blocksOff > 0 && failed.blocksOff > 0)
    return best.blocksOff < failed.blocksOff ? best : failed
  const [one, other] = [doubtedOf(best), doubtedOf(failed)]
  if (one && other) return trustIn(one.upstream) > trustIn(other.upstream) ? best : failed
  if (one || other) return one ? best : failed
  return telling(best.reply) > telling(failed.reply) ? best : failed
}

/** It is an answer all the same: what speaks against it is another upstream's word alone. */
function doubtedOf({ failure, reply }: AttemptFailed): Reply | null {
  const isAnswer = reply?.refusal === null && reply.incoming.status < 400
  return isAnswer && failure.whose === 'upstream' ? reply : null
}
