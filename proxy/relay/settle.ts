// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import type { Attempt } from './attempt.ts'
import type { Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import { whyNone, type Needs } from './needs.ts'
import type { Reply } from './reply.ts'

/** Of two failures the one that tells the client more; of equals the later. */
export function morePreferred(best: Attempt | null, failed: Attempt): Attempt {
  return best === null || rankOf(failed.fallback) >= rankOf(best.fallback) ? failed : best
}

/**
 * How much an upstream's reply tells the client: nothing, a page, a limit of the provider, trouble of
 * the upstream's own, an error that another node might not have, the node's own answer, what is wrong
 * with a transaction, that its nonce is used, that the node has it already, an answer after all.
 */
export function rankOf(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 9 : 1
  if (refusal.transaction !== null) return { refused: 6, used: 7, known: 8 }[refusal.transaction]
  if (refusal.holdOff) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}

/** A page, or an error of the upstream's own trouble, passed on for want of anything better. */
export function tellsOfTrouble(reply: Reply): boolean {
  const { refusal, incoming } = reply
  return refusal === null ? incoming.status >= 300 : refusal.weight > 0 && rankOf(reply) === 3
}

/** No upstream may be asked and none was; or every attempt failed, and none gave anything to pass on. */
export function noReply(
  best: Attempt | null,
  { journal: { attempts } }: Call,
  pool: Pool,
  needs: Needs,
): RelayError {
  if (attempts.length === 0)
    return rateLimited(pool, needs) ?? new RelayError(errorKinds.noUpstream, whyNone(pool, needs))
  const story = attempts.map(({ upstream, result }) =>
    typeof result === 'object' && result ? `${upstream}: ${result.name}` : upstream,
  )
  const made = `(${story.join(', ')})`
  const cause = best?.fault
  // An answer that is broken says nothing: only one that reads well can be untrue.
  if (attempts.some(({ violation }) => violation !== null && violation.check !== 'envelope'))
    return new RelayError(errorKinds.integrity, `no upstream gave a true answer ${made}`, { cause })
  if (cause?.fault === 'unsendable')
    return new RelayError(errorKinds.unsendable, 'the request cannot be put to a node', { cause })
  const kind = cause?.fault === 'timeout' ? errorKinds.timeout : errorKinds.upstreamFailed
  return new RelayError(kind, `no upstream answered ${made}`, { cause })
}

/** Every upstream that could serve the call is in cooldown; null where that is not why. */
export function rateLimited(pool: Pool, needs: Needs): RelayError | null {
  const next = pool.nextInCooldown(needs)
  if (next === null) return null
  const retryAfterMs = next.url.cooldown.leftMs
  const message = `every upstream is in cooldown after a limit; ${next.upstream.name} is the first to be asked again`
  return new RelayError(errorKinds.rateLimited, message, { retryAfterMs })
}
