// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SubscriptionObserver } from '../subscription/subscriptions.ts'
import { LineLimit } from './line-limit.ts'
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
): SubscriptionObserver {
  const moves = new LineLimit(clock, moveRate, (leftOut) => {
    logger.info('moves of subscriptions left out of the log', { ...labels, leftOut })
  })
  const delays = new LineLimit(clock, delayRate, (leftOut) => {
    logger.warn('delays of subscriptions left out of the log', { ...labels, leftOut })
  })
  const failures = new LineLimit(clock, failureRate, (leftOut) => {
    logger.error('failures of subscriptions left out of the log', { ...labels, leftOut })
  })
  return {
    clientsChanged() {},
    upstreamChanged() {},
    joined(topic, upstream) {
      if (!moves.take()) return
      const source = upstream ?? 'polling'
      logger.info('subscription is told by', { ...labels, topic, source })
    },
    left(topic, upstream, why) {
      if (!moves.take()) return
      logger.warn('subscription left its upstream', { ...labels, topic, upstream, why })
    },
    filled(topic, blocks) {
      if (moves.take()) logger.info('subscription made whole', { ...labels, topic, blocks })
    },
    duplicateDropped() {},
    fetchFailed(topic, forMs, why) {
      if (forMs < quietForMs || !delays.take()) return
      const delayMs = Math.round(forMs)
      logger.warn('subscription cannot go on', { ...labels, topic, delayMs, why })
    },
    ended(topic, reason) {
      if (failures.take()) logger.error('subscription ended', { ...labels, topic, reason })
    },
    failed(topic, error) {
      if (!failures.take()) return
      logger.error('subscription failed', { ...labels, topic, error: error as Error })
    },
  }
}
