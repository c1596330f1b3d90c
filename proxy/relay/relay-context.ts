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

/** What the relay of one listener is made of. */
export interface RelayOptions {
  readonly chain: Chain
  readonly dialect: Dialect
  readonly pool: Pool
  readonly config: Live<RelayConfig>
  /** Whether to record the candidates of each draw. */
  readonly selectionStats: boolean
  readonly clock: Clock
  readonly observer: RelayObserver
  /** The trace context of an attempt, for URLs that take it; null or absent: what the client sent. */
  readonly traceHeaders?: TraceHeaders | null
  /** Absent: of this relay alone. */
  readonly known?: KnownTransactions
}

/** What all calls of one listener share. */
export type RelayContext = Readonly<ReturnType<typeof relayContextOf>>

export function relayContextOf(options: RelayOptions) {
  const { config, chain, pool, clock, observer } = options
  return {
    ...options,
    judge: new AnswerValidator({ integrity: config.now.integrity, chain, pool }),
    dueTimes: new DueTimes(clock),
    hedging: new Hedging(chain.blockTimeMs),
    breaker: new Breaker(pool, observer),
    known: options.known ?? new KnownTransactions(),
  }
}
