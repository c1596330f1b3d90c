// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Strategy } from '../config/types.ts'
import type { Explain } from '../upstream/pick.ts'
import type { Pool } from '../upstream/pool.ts'
import { isServing } from '../upstream/snapshot.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Wanted } from '../upstream/pick.ts'
import type { Attempt } from './attempt.ts'
import { RelayError, errorKinds } from './errors.ts'
import { wantedBy } from './needs.ts'
import { pauseBeforeRepeat } from './pause.ts'
import type { Relay } from './step.ts'

export interface RouteOptions {
  readonly strategy: Strategy
  readonly clock: Clock
  /** Whether to keep among whom was chosen. */
  readonly selectionStats: boolean
}

/** The innermost part of the relay: chooses an upstream and asks it once. */
export function route(pool: Pool, attempt: Attempt, options: RouteOptions): Relay {
  return async (call) => {
    const wanted = wantedBy(call)
    if (call.journal.attempts.length > 0 && pool.repeats(wanted)) {
      await pauseBeforeRepeat(call, options.clock)
      // A hedge may have been made in the meantime.
      if (call.journal.isSpent(options.clock.nowMs()))
        throw new RelayError(errorKinds.timeout, 'the time or the attempts of the call are used up')
    }
    const keep: Explain = (candidates) => {
      call.journal.candidates = candidates
    }
    const explain = options.selectionStats ? keep : undefined
    const upstream = pool.choose(wanted, options.strategy, explain)
    if (upstream) return attempt(call, upstream)
    throw new RelayError(errorKinds.noUpstream, whyNot(pool, wanted))
  }
}

/** Why nobody can be asked, for a person who reads it in the answer. */
function whyNot(pool: Pool, { addons, excluded }: Wanted): string {
  // An extension is a client's word, and may be of any length.
  const declared = addons.map((addon) => `\`${addon.slice(0, 64)}\``).join(' and ')
  const declaring = pool.upstreams.filter((each) => !declared || each.serves(addons))
  if (declared && declaring.length === 0)
    return `no upstream that is up declares the add-on ${declared}, which this call needs`
  const states = declaring.map((each) => {
    const state = excluded.includes(each.name) ? 'excluded' : stateOf(pool, each)
    return `${each.name}: ${state}`
  })
  return `no upstream can serve this call now (${states.join(', ')})`
}

function stateOf(pool: Pool, upstream: Upstream): string {
  const state = pool.stateOf(upstream)
  if (!isServing(state) || !pool.isFull(upstream)) return state
  const { maxSessions } = pool
  if (maxSessions === 1) return 'its only session is taken'
  return `all ${maxSessions.toLocaleString('en-US')} sessions are taken`
}
