// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { PoolObserver, UpstreamState } from '../upstream/observer.ts'
import { memo } from './cells.ts'
import { lineLimits } from './line-limit.ts'
import type { LineRate } from './line-limit.ts'
import type { LogFields, Logger } from './log.ts'

/** Of one upstream: of one that flaps there is a line now and then, and one that is down stays quiet. */
const stateRate: LineRate = { lines: 6, perMs: 60_000 }
const verificationRate: LineRate = { lines: 3, perMs: 300_000 }
const holdOffRate: LineRate = { lines: 6, perMs: 60_000 }

/** Logs what becomes of the pool of one chain and interface. */
export function poolLog(logger: Logger, clock: Clock, labels: LogFields): PoolObserver {
  const limitsOf = memo((upstream) => {
    const limit = lineLimits(logger, clock, { ...labels, upstream })
    // The last state is logged with what was left out.
    let now: UpstreamState | null = null
    return {
      enter: (state: UpstreamState) => (now = state),
      takeState: limit(stateRate, 'warn', 'state changes', () => ({ now })),
      takeVerification: limit(verificationRate, 'warn', 'failed verifications'),
      takeHoldOff: limit(holdOffRate, 'warn', 'hold-offs'),
    }
  })
  return {
    stateChanged(upstream, from, to, why) {
      const { enter, takeState } = limitsOf(upstream)
      enter(to)
      if (!takeState()) return
      const level = to === 'rejected' ? 'error' : to === 'disabled' ? 'warn' : 'info'
      logger[level]('upstream changed state', { ...labels, upstream, from, to, why })
    },
    cooldownBegan(upstream, url, forMs) {
      if (!limitsOf(upstream).takeHoldOff()) return
      const holdOffMs = Math.round(forMs)
      logger.warn('upstream URL held off', { ...labels, upstream, url, holdOffMs })
    },
    verificationFailed(upstream, url, verification, why) {
      if (!limitsOf(upstream).takeVerification()) return
      logger.warn('verification failed', { ...labels, upstream, url, verification, why })
    },
  }
}
