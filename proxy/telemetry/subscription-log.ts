// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SubscriptionObserver } from '../subscription/observer.ts'
import { LineLimit } from './line-limit.ts'
import type { LogFields, Logger } from './log.ts'

const rate = { lines: 20, perMs: 1_000 }

/** Writes what becomes of subscriptions as lines of the log. */
export function subscriptionLog(
  logger: Logger,
  clock: Clock,
  labels: LogFields,
): SubscriptionObserver {
  const limit = new LineLimit(clock, rate, (leftOut) => {
    logger.warn('changes of subscriptions left out of the log', { ...labels, leftOut })
  })
  const source = (upstream: string | null) => upstream ?? 'polling'
  return {
    clientsChanged() {},
    upstreamChanged() {},
    left(topic, from, why) {
      if (limit.take())
        logger.warn('subscription left its upstream', { ...labels, topic, from: source(from), why })
    },
    joined(topic, to) {
      if (limit.take())
        logger.info('subscription goes on', { ...labels, topic, upstream: source(to) })
    },
    filled(topic, events) {
      if (limit.take()) logger.info('missed events were fetched', { ...labels, topic, events })
    },
    duplicateDropped() {},
    ended(topic, reason) {
      if (limit.take())
        logger.error('subscription ended: its clients were disconnected', {
          ...labels,
          topic,
          reason,
        })
    },
    failed(topic, error) {
      if (limit.take())
        logger.error('a subscription met a defect', { ...labels, topic, error: error as Error })
    },
  }
}
