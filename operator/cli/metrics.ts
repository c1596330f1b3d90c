// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { KubeObserver } from '../kube/observer.ts'
import type { Operator } from '../controllers/operator.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { Condition } from '../api/status.ts'
import { secondBuckets, type Series, series } from './series.ts'

export interface Metrics {
  readonly observer: KubeObserver
  /** Adds gauges that read an operator at each scrape. */
  readonly follow: (operator: Operator) => void
  readonly contentType: string
  readonly scrape: () => Promise<string>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  return {
    observer: countingObserver(registry),
    follow: (operator) => followOperator(operator, registry),
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
  }
}

/** Creates the counters and histograms of an observer. */
function countingObserver(registry: Registry): KubeObserver {
  const registers = [registry]
  const counter = <L extends string>(of: Series<L>) => new Counter({ ...described(of), registers })
  const histogram = <L extends string>(of: Series<L>) =>
    new Histogram({ ...described(of), buckets: secondBuckets, registers })
  const reconciles = counter(series.reconciles)
  const reconcileTime = histogram(series.reconcileTime)
  const requests = counter(series.requests)
  const requestTime = histogram(series.requestTime)
  const throttled = counter(series.throttled)
  const watchFailures = counter(series.watchFailures)
  const queueAdds = counter(series.queueAdds)
  const queueRetries = counter(series.queueRetries)
  const queueLatency = histogram(series.queueLatency)
  const queueWork = histogram(series.queueWork)
  const eventsDropped = counter(series.eventsDropped)
  const leader = new Gauge({ ...described(series.leader), registers })
  return {
    requested(resource, verb, outcome, durationMs) {
      requests.inc({ resource, verb, outcome: String(outcome) })
      if (verb !== 'watch') requestTime.observe({ verb }, durationMs / 1000)
    },
    throttled: (_, __, ___, by) => throttled.inc({ by }),
    reflectFailed: (resource, verb) => watchFailures.inc({ resource, verb }),
    queueAdded: (queue) => queueAdds.inc({ queue }),
    queueRetried: (queue) => queueRetries.inc({ queue }),
    queueTaken: (queue, waitedMs) => queueLatency.observe({ queue }, waitedMs / 1000),
    queueDone: (queue, workedMs) => queueWork.observe({ queue }, workedMs / 1000),
    reconciled({ controller, result, durationMs }) {
      reconciles.inc({ controller, result })
      reconcileTime.observe({ controller }, durationMs / 1000)
    },
    leading: (isLeading) => leader.set(isLeading ? 1 : 0),
    eventDropped: (_, reason) => eventsDropped.inc({ reason }),
  }
}

function described<L extends string>({ name, help, labels }: Series<L>) {
  return { name, help, labelNames: [...labels] }
}

/** Creates gauges that read an operator at each scrape. */
function followOperator(operator: Operator, registry: Registry): void {
  const registers = [registry]
  const controllers = [
    ['rpcrouter', operator.routers],
    ['upstreamprovider', operator.providers],
  ] as const
  type Queue = (typeof controllers)[number][1]['queue']
  const ofQueues = (of: Series<'queue'>, read: (queue: Queue) => number) =>
    new Gauge({
      ...described(of),
      registers,
      collect() {
        for (const [queue, controller] of controllers) this.set({ queue }, read(controller.queue))
      },
    })
  ofQueues(series.queueDepth, ({ depth }) => depth)
  ofQueues(series.queueActive, ({ active }) => active)
  ofQueues(series.queueLongest, ({ longestMs }) => longestMs / 1000)
  new Gauge({
    ...described(series.watchSilence),
    registers,
    collect() {
      this.set(operator.silentMs / 1000)
    },
  })
  const ofRouters = (of: Series<'namespace' | 'name'>, holds: (is: Condition) => boolean) =>
    new Gauge({
      ...described(of),
      registers,
      collect() {
        this.reset()
        for (const object of operator.cache.routers.list()) {
          const { namespace = '', name } = object.metadata
          const conditions = (object as RpcRouter).status?.conditions ?? []
          this.set({ namespace, name }, conditions.some(holds) ? 1 : 0)
        }
      },
    })
  ofRouters(series.routerReady, ({ type, status }) => type === 'Ready' && status === 'True')
  ofRouters(series.routerStalled, ({ reason }) => reason === 'RolloutStalled')
  ofRouters(series.routerStopped, ({ reason }) => reason === 'RolloutStopped')
}
