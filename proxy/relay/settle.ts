// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import type { Reply } from './reply.ts'

/** No attempt is left: the upstream's own error goes to the client, else one of the router's. */
export function settle(best: AttemptFailed | null, { journal }: Call, error: unknown): Reply {
  // Among them what is only doubted: nothing better came, and it may be true.
  if (best?.reply) return best.reply
  if (isDefect(error)) throw error
  const { attempts } = journal
  const story = attempts.map(({ upstream, result }) =>
    typeof result === 'object' && result ? `${upstream}: ${result.name}` : upstream,
  )
  const told = `(${story.join(', ')})`
  const cause = best ?? error
  // An answer that is broken says nothing: only one that reads well can be a lie.
  if (attempts.some(({ violation }) => violation !== null && violation.check !== 'envelope'))
    throw new RelayError(errorKinds.integrity, `no upstream told the truth ${told}`, { cause })
  if (best === null) throw error
  if (best.fault?.fault === 'unsendable')
    throw new RelayError(errorKinds.unsendable, 'the request cannot be put to a node', { cause })
  const kind = best.timedOut ? errorKinds.timeout : errorKinds.upstreamFailed
  throw new RelayError(kind, `no upstream answered ${told}`, { cause })
}

/** Neither a failed attempt nor a failure that the router tells the client. */
export function isDefect(error: unknown): boolean {
  return error !== null && !(error instanceof RelayError)
}
