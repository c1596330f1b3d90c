// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { Observers } from './observers.ts'
import { series } from './series.ts'
import type { Series } from './series.ts'

/** The series of subscriptions, and what counts them. */
export function countSubscriptions(registry: Registry): Observers['subscriptionObserver'] {
  const options = ({ name, help, labels }: Series) => ({
    name,
    help,
    labelNames: labels,
    registers: [registry],
  })
  const clients = new Gauge(options(series.subscriptions))
  const upstreams = new Gauge(options(series.upstreamSubscriptions))
  const moves = new Counter(options(series.subscriptionMoves))
  const filled = new Counter(options(series.subscriptionFilled))
  const duplicates = new Counter(options(series.subscriptionDuplicates))
  const fetchFailures = new Counter(options(series.subscriptionFetchFailures))
  const ended = new Counter(options(series.subscriptionsEnded))
  return (chain, apiInterface) => {
    const listener = { chain, interface: apiInterface }
    return {
      clientsChanged(topic, count) {
        clients.set({ ...listener, topic }, count)
      },
      upstreamChanged(upstream, change) {
        upstreams.inc({ ...listener, upstream }, change)
      },
      joined() {},
      left(topic) {
        moves.inc({ ...listener, topic })
      },
      filled(topic, count) {
        filled.inc({ ...listener, topic }, count)
      },
      duplicateDropped(topic) {
        duplicates.inc({ ...listener, topic })
      },
      fetchFailed(topic) {
        fetchFailures.inc({ ...listener, topic })
      },
      ended(topic) {
        ended.inc({ ...listener, topic })
      },
      failed() {},
    }
  }
}
