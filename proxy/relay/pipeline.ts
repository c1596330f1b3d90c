// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RelayConfig } from '../config/types.ts'
import { absence } from './absence.ts'
import { createAttempt, type AttemptOptions } from './attempt.ts'
import { breaker } from './breaker.ts'
import { broadcast } from './broadcast.ts'
import { budget } from './budget.ts'
import { hedge } from './hedge.ts'
import { heldOff } from './held-off.ts'
import { Judge } from './judge.ts'
import { knownTransaction } from './known-transaction.ts'
import { nearTip } from './near-tip.ts'
import { retry } from './retry.ts'
import { route } from './route.ts'
import { compose, type Relay } from './step.ts'

export interface RelayOptions extends Omit<AttemptOptions, 'minRelayTimeoutMs' | 'judge'> {
  readonly config: RelayConfig
  readonly selectionStats: boolean
}

/** The relay of one listener: every step a call passes, the outermost first. */
export function createRelay(options: RelayOptions): Relay {
  const { config, pool, clock, observer } = options
  const { minRelayTimeoutMs } = config
  const judge = new Judge({ ...config, chain: options.chain, pool })
  const attempt = createAttempt({ ...options, minRelayTimeoutMs, judge })
  const trustIn = (upstream: string) => pool.trustIn(upstream)
  return compose(
    [
      heldOff(pool),
      budget(config),
      breaker(pool, clock, observer),
      knownTransaction(options),
      broadcast(pool, attempt, clock),
      retry(config, clock, trustIn),
      hedge({ ...config, blockTimeMs: options.chain.blockTimeMs, clock, trustIn }),
      nearTip(pool, options.chain.failures),
      absence(pool, options.chain.failures),
    ],
    route(pool, attempt, { ...options, strategy: config.strategy }),
  )
}
