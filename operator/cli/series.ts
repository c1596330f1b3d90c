// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One metric family of the operator as a scraper sees it. */
export interface Series<L extends string = string> {
  readonly name: `rpc_operator_${string}`
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly L[]
  readonly help: string
}

/** Upper bounds of all histograms' buckets, in seconds. */
export const secondBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]

function family(type: Series['type']) {
  return <const L extends string = never>(
    name: string,
    help: string,
    ...labels: readonly L[]
  ): Series<L> => ({ name: `rpc_operator_${name}`, type, labels, help })
}

const counter = family('counter')
const gauge = family('gauge')
const histogram = family('histogram')

/** Every series of the operator: its registry and `docs/reference/operator-metrics.md` are made from it. */
export const series = {
  routerReady: gauge(
    'router_ready',
    '1 for an RpcRouter that is Ready, else 0.',
    'namespace',
    'name',
  ),
  reconciles: counter('reconcile_total', 'Reconciles by their result.', 'controller', 'result'),
  reconcileTime: histogram('reconcile_duration_seconds', 'Time of a reconcile.', 'controller'),
  leader: gauge('leader', '1 while this process leads, else 0; without leader election always 0.'),
  watchSilence: gauge(
    'watch_silent_seconds',
    'Time since the quietest watch last received anything; before its first list, since the start.',
  ),
  watchFailures: counter(
    'watch_failures_total',
    'Lists and watches that failed, and were tried again.',
    'resource',
    'verb',
  ),
  requests: counter(
    'api_requests_total',
    'Requests to the API server that ended.',
    'resource',
    'verb',
    'outcome',
  ),
  requestTime: histogram(
    'api_request_duration_seconds',
    'Time of a request to the API server; watches are left out.',
    'verb',
  ),
  throttled: counter('api_throttled_total', 'Requests to the API server that had to wait.', 'by'),
  queueDepth: gauge('queue_depth', 'Objects that wait for a worker.', 'queue'),
  queueActive: gauge('queue_active', 'Objects that workers have.', 'queue'),
  queueLongest: gauge('queue_longest_seconds', 'How long the longest work takes so far.', 'queue'),
  queueAdds: counter('queue_adds_total', 'Objects that were added to a queue.', 'queue'),
  queueRetries: counter(
    'queue_retries_total',
    'Objects that went back to a queue after a failure.',
    'queue',
  ),
  queueLatency: histogram(
    'queue_latency_seconds',
    'Time that an object waited for a worker.',
    'queue',
  ),
  queueWork: histogram(
    'queue_work_duration_seconds',
    'Time that an object was worked on.',
    'queue',
  ),
  eventsDropped: counter('events_dropped_total', 'Events that were dropped.', 'why'),
}
