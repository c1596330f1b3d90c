// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import { lineLimits } from './line-limit.ts'
import type { LineRate } from './line-limit.ts'
import type { LogFields, Logger } from './log.ts'

/** Of one chain and interface: an upstream that flaps takes every topic along. */
const moveRate: LineRate = { lines: 20, perMs: 60_000 }
const delayRate: LineRate = { lines: 6, perMs: 60_000 }
const failureRate: LineRate = { lines: 6, perMs: 60_000 }

/** Upstreams are behind each other for a moment all the time: no line is worth that. */
const quietForMs = 10_000

/** The log's ear at the subscriptions of one chain and interface. */
export function subscriptionLog(
  logger: Logger,
  clock: Clock,
  labels: LogFields,
): Omit<SubscriptionObserver, 'clientsChanged' | 'upstreamChanged' | 'duplicateDropped'> {
  const limit = lineLimits(logger, clock, labels)
  const takeMove = limit(moveRate, 'info', 'moves of subscriptions')
  const takeDelay = limit(delayRate, 'warn', 'delays of subscriptions')
  const takeFailure = limit(failureRate, 'error', 'failures of subscriptions')
  return {
    joined(topic, upstream) {
      if (!takeMove()) return
      logger.info('subscription has joined an upstream', { ...labels, topic, upstream })
    },
    left(topic, upstream, why) {
      if (!takeMove()) return
      logger.warn('subscription left its upstream', { ...labels, topic, upstream, why })
    },
    filled(topic, blocks) {
      if (takeMove()) logger.info('subscription made whole', { ...labels, topic, blocks })
    },
    fetchFailed(topic, forMs, why) {
      if (forMs < quietForMs || !takeDelay()) return
      const delayMs = Math.round(forMs)
      logger.warn('subscription cannot go on', { ...labels, topic, delayMs, why })
    },
    ended(topic, reason) {
      if (takeFailure()) logger.error('subscription ended', { ...labels, topic, reason })
    },
    failed(topic, error) {
      if (!takeFailure()) return
      logger.error('subscription failed', { ...labels, topic, error: error as Error })
    },
  }
}
