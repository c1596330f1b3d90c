// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { PoolObserver, UpstreamState } from '../upstream/observer.ts'
import { LineLimit } from './line-limit.ts'
import type { LineRate } from './line-limit.ts'
import type { LogFields, Logger } from './log.ts'

/** Of one upstream: one that flaps is told of now and then, and one that is down stays quiet. */
const stateRate: LineRate = { lines: 6, perMs: 60_000 }
const verificationRate: LineRate = { lines: 3, perMs: 300_000 }
const holdOffRate: LineRate = { lines: 6, perMs: 60_000 }

interface UpstreamLimits {
  readonly state: LineLimit
  readonly verification: LineLimit
  readonly holdOff: LineLimit
  /** The last one heard of, told with what was left out. */
  last: UpstreamState | null
}

/** The log's ear at the pool of one chain and interface. */
export function poolLog(logger: Logger, clock: Clock, labels: LogFields): PoolObserver {
  const upstreams = new Map<string, UpstreamLimits>()
  const limitsOf = (upstream: string): UpstreamLimits => {
    const known = upstreams.get(upstream)
    if (known) return known
    const leftOut = (what: string, more: () => LogFields) => (count: number) => {
      logger.warn(`${what} left out of the log`, { ...labels, upstream, leftOut: count, ...more() })
    }
    const limits: UpstreamLimits = {
      state: new LineLimit(
        clock,
        stateRate,
        leftOut('state changes', () => ({ now: limits.last })),
      ),
      verification: new LineLimit(
        clock,
        verificationRate,
        leftOut('failed verifications', () => ({})),
      ),
      holdOff: new LineLimit(
        clock,
        holdOffRate,
        leftOut('hold-offs', () => ({})),
      ),
      last: null,
    }
    upstreams.set(upstream, limits)
    return limits
  }
  return {
    stateChanged(upstream, from, to, why) {
      const limits = limitsOf(upstream)
      limits.last = to
      if (!limits.state.take()) return
      const level = to === 'rejected' ? 'error' : to === 'disabled' ? 'warn' : 'info'
      logger[level]('upstream changed state', { ...labels, upstream, from, to, why })
    },
    heldOff(upstream, url, holdOffMs) {
      if (!limitsOf(upstream).holdOff.take()) return
      logger.warn('upstream URL held off', {
        ...labels,
        upstream,
        url,
        holdOffMs: Math.round(holdOffMs),
      })
    },
    verificationFailed(upstream, url, verification, why) {
      if (!limitsOf(upstream).verification.take()) return
      logger.warn('verification failed', { ...labels, upstream, url, verification, why })
    },
  }
}
