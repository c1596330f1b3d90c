// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ApiInterface } from '../config/types.ts'
import type { SubscriptionObserver } from '../subscription/observer.ts'
import { series } from './series.ts'

/** Topics that interfaces name themselves; a client can ask for others, which are told as one. */
const knownTopics: ReadonlySet<string> = new Set([
  ...['newHeads', 'logs', 'newPendingTransactions', 'syncing'],
  ...['account', 'block', 'program', 'root', 'signature', 'slot', 'slotsUpdates', 'vote'],
  ...['NewBlock', 'NewBlockHeader', 'Tx', 'query'],
])

/** Counts what becomes of subscriptions. */
export function subscriptionMetrics(
  registry: Registry,
): (chain: string, apiInterface: ApiInterface) => SubscriptionObserver {
  const gauge = ({
    name,
    help,
    labels,
  }: (typeof series)['subscribers' | 'upstreamSubscriptions']) =>
    new Gauge({ name, help, labelNames: labels, registers: [registry] })
  const counter = ({
    name,
    help,
    labels,
  }: (typeof series)['subscriptionMoves' | 'subscriptionFilled' | 'subscriptionsEnded']) =>
    new Counter({ name, help, labelNames: labels, registers: [registry] })
  const clients = gauge(series.subscribers)
  const upstreams = gauge(series.upstreamSubscriptions)
  const moves = counter(series.subscriptionMoves)
  const filledEvents = counter(series.subscriptionFilled)
  const endings = counter(series.subscriptionsEnded)
  return (chain, apiInterface) => {
    const listener = { chain, interface: apiInterface }
    const labelsOf = (name: string) => ({
      ...listener,
      topic: knownTopics.has(name) ? name : 'other',
    })
    const known = new Map<string, number>()
    return {
      clientsChanged(topic, now) {
        clients.inc(labelsOf(topic), now - (known.get(topic) ?? 0))
        if (now > 0) known.set(topic, now)
        else known.delete(topic)
      },
      upstreamChanged(upstream, change) {
        upstreams.inc({ ...listener, upstream }, change)
      },
      left(topic) {
        moves.inc(labelsOf(topic))
      },
      joined() {},
      filled(topic, events) {
        filledEvents.inc(labelsOf(topic), events)
      },
      duplicateDropped() {},
      ended(topic) {
        endings.inc(labelsOf(topic))
      },
      failed() {},
    }
  }
}
