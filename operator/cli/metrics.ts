// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { KubeObserver } from '../kube/observer.ts'
import type { Operator } from '../controllers/operator.ts'
import type { RpcRouter } from '../api/rpc-router.ts'

/** The metrics of the operator, `rpc_operator_*`. */
export interface Metrics {
  readonly observer: KubeObserver
  /** Lets gauges look at an operator when they are asked. */
  readonly follow: (operator: Operator) => void
  readonly contentType: string
  readonly scrape: () => Promise<string>
}

const secondBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Counter({ name: `rpc_operator_${name}`, help, labelNames, registers })
  const histogram = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Histogram({
      name: `rpc_operator_${name}`,
      help,
      labelNames,
      buckets: secondBuckets,
      registers,
    })
  const reconciles = counter('reconcile_total', 'Reconciles by their result.', [
    'controller',
    'result',
  ])
  const reconcileTime = histogram('reconcile_duration_seconds', 'Time of a reconcile.', [
    'controller',
  ])
  const requests = counter('api_requests_total', 'Requests to the API server.', [
    'resource',
    'verb',
    'outcome',
  ])
  const requestTime = histogram('api_request_duration_seconds', 'Time of a request.', ['verb'])
  const throttled = counter('api_throttled_total', 'Requests that had to wait.', ['by'])
  const listFailures = counter('watch_failures_total', 'Lists and watches that failed.', [
    'resource',
    'verb',
  ])
  const added = counter('queue_adds_total', 'Keys that were added to a queue.', ['queue'])
  const retried = counter('queue_retries_total', 'Keys that went back after a failure.', ['queue'])
  const waited = histogram('queue_latency_seconds', 'Time that a key waited.', ['queue'])
  const worked = histogram('queue_work_duration_seconds', 'Time that a key was worked on.', [
    'queue',
  ])
  const dropped = counter('events_dropped_total', 'Events that were not told.', ['why'])
  const leader = new Gauge({
    name: 'rpc_operator_leader',
    help: 'Whether this process leads.',
    registers,
  })
  return {
    observer: {
      requested(resource, verb, outcome, durationMs) {
        requests.inc({ resource, verb, outcome: String(outcome) })
        if (verb !== 'watch') requestTime.observe({ verb }, durationMs / 1000)
      },
      throttled: (_, __, ___, by) => throttled.inc({ by }),
      reflectFailed: (resource, verb) => listFailures.inc({ resource, verb }),
      queueAdded: (queue) => added.inc({ queue }),
      queueRetried: (queue) => retried.inc({ queue }),
      queueTaken: (queue, waitedMs) => waited.observe({ queue }, waitedMs / 1000),
      queueDone: (queue, workedMs) => worked.observe({ queue }, workedMs / 1000),
      reconciled({ controller, result, durationMs }) {
        reconciles.inc({ controller, result })
        reconcileTime.observe({ controller }, durationMs / 1000)
      },
      leading: (isLeading) => {
        leader.set(isLeading ? 1 : 0)
      },
      eventDropped: (_, why) => dropped.inc({ why }),
    },
    follow: (operator) => {
      followOperator(operator, registry)
    },
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
  }
}

function followOperator(operator: Operator, registry: Registry): void {
  const registers = [registry]
  const controllers = [
    ['rpcrouter', operator.routers],
    ['upstreamprovider', operator.providers],
  ] as const
  const ofQueues = (
    name: string,
    help: string,
    read: (at: (typeof controllers)[number][1]) => number,
  ) =>
    new Gauge({
      name: `rpc_operator_${name}`,
      help,
      labelNames: ['queue'],
      registers,
      collect() {
        for (const [queue, controller] of controllers) this.set({ queue }, read(controller))
      },
    })
  ofQueues('queue_depth', 'Keys that wait for a worker.', ({ queue }) => queue.depth)
  ofQueues('queue_active', 'Keys that workers have.', ({ queue }) => queue.active)
  ofQueues(
    'queue_longest_seconds',
    'How long the longest work takes so far.',
    ({ queue }) => queue.longestMs / 1000,
  )
  new Gauge({
    name: 'rpc_operator_watch_silent_seconds',
    help: 'Time since the quietest watch was heard of; of one whose first list is not there yet since the start.',
    registers,
    collect() {
      this.set(operator.silentMs / 1000)
    },
  })
  new Gauge({
    name: 'rpc_operator_router_ready',
    help: 'Whether a router is Ready.',
    labelNames: ['namespace', 'name'],
    registers,
    collect() {
      this.reset()
      for (const object of operator.world.routers.list()) {
        const { namespace = '', name } = object.metadata
        const conditions = (object as RpcRouter).status?.conditions
        const ready = conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
        this.set({ namespace, name }, ready ? 1 : 0)
      }
    },
  })
}
