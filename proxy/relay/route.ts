// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Strategy } from '../config/types.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Attempt } from './attempt.ts'
import { RelayError, errorKinds } from './errors.ts'
import { wantedBy } from './needs.ts'
import type { Relay } from './step.ts'

/** The innermost part of the relay: chooses an upstream and asks it once. */
export function route(pool: Pool, strategy: Strategy, attempt: Attempt): Relay {
  return async (call) => {
    const wanted = wantedBy(call)
    const upstream = pool.choose(wanted, strategy)
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
