// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import { type Clock, DueTimes } from '../clock/clock.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { Pool } from '../upstream/pool.ts'
import { Breaker } from './breaker.ts'
import type { RelayObserver } from './call.ts'
import { Hedging } from './hedge.ts'
import { KnownTransactions } from './known-transactions.ts'
import type { TraceHeaders } from './traced-request.ts'
import { AnswerValidator } from './answer-validator.ts'

/** Dependencies of the relay of one listener. */
export interface RelayOptions {
  readonly chain: Chain
  readonly dialect: Dialect
  readonly pool: Pool
  readonly config: Live<RelayConfig>
  /** Whether to record the candidates of each selection. */
  readonly selectionStats: boolean
  readonly clock: Clock
  readonly observer: RelayObserver
  /** Trace context of an attempt for URLs that accept it; by default the client's. */
  readonly traceHeaders?: TraceHeaders | null
  /** Shared with other relays; by default each relay has its own. */
  readonly known?: KnownTransactions
}

/** Dependencies that all calls of one listener share. */
export type RelayContext = Readonly<ReturnType<typeof relayContextOf>>

export function relayContextOf(options: RelayOptions) {
  const { config, chain, pool, clock, observer } = options
  return {
    ...options,
    validator: new AnswerValidator({ integrity: config.now.integrity, chain, pool }),
    dueTimes: new DueTimes(clock),
    hedging: new Hedging(chain.blockTimeMs),
    breaker: new Breaker(pool, observer),
    known: options.known ?? new KnownTransactions(),
  }
}
