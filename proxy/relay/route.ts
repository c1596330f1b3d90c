// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Strategy } from '../config/types.ts'
import type { Explain, Pool } from '../upstream/pool.ts'
import type { Attempt } from './attempt.ts'
import { RelayError, errorKinds } from './errors.ts'
import { wantedBy } from './needs.ts'
import type { Relay } from './step.ts'

export interface RouteOptions {
  readonly strategy: Strategy
  /** Whether to keep among whom was chosen. */
  readonly selectionStats: boolean
}

/** The innermost part of the relay: chooses an upstream and asks it once. */
export function route(pool: Pool, attempt: Attempt, options: RouteOptions): Relay {
  return async (call) => {
    const wanted = wantedBy(call)
    const keep: Explain = (candidates) => {
      call.journal.candidates = candidates
    }
    const explain = options.selectionStats ? keep : undefined
    const upstream = pool.choose(wanted, options.strategy, explain)
    if (upstream) return attempt(call, upstream)
    const addons = wanted.addons.map((addon) => `\`${addon}\``).join(' and ')
    throw new RelayError(
      errorKinds.noUpstream,
      addons
        ? `no upstream that is up declares the add-on ${addons}, which this call needs`
        : 'no upstream can serve this call now',
    )
  }
}
