// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One metric family of the operator. */
export interface Series<L extends string = string> {
  readonly name: `rpc_operator_${string}`
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly L[]
  readonly help: string
}

/** Upper bounds of all histogram buckets, in seconds. */
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
const ofRouter = ['namespace', 'name'] as const

/** Every series of the operator, for its registry and `docs/reference/operator-metrics.md`. */
export const series = {
  routerReady: gauge('router_ready', '1 for an RpcRouter that is Ready, else 0.', ...ofRouter),
  routerStalled: gauge(
    'router_stalled',
    '1 for an RpcRouter whose rollout is stalled (`RolloutStalled`), else 0.',
    ...ofRouter,
  ),
  routerStopped: gauge(
    'router_stopped',
    '1 for an RpcRouter whose rollout is stopped (`RolloutStopped`), else 0.',
    ...ofRouter,
  ),
  reconciles: counter('reconcile_total', 'Reconciles by result.', 'controller', 'result'),
  reconcileTime: histogram('reconcile_duration_seconds', 'Duration of a reconcile.', 'controller'),
  leader: gauge('leader', '1 while this process leads, else 0; always 0 without leader election.'),
  watchSilence: gauge(
    'watch_silent_seconds',
    'Time since the quietest watch received anything; before its first list, since the start.',
  ),
  watchFailures: counter(
    'watch_failures_total',
    'Failed lists and watches, which are retried.',
    'resource',
    'verb',
  ),
  requests: counter(
    'api_requests_total',
    'Completed requests to the API server.',
    'resource',
    'verb',
    'outcome',
  ),
  requestTime: histogram(
    'api_request_duration_seconds',
    'Duration of a request to the API server, except watches.',
    'verb',
  ),
  throttled: counter('api_throttled_total', 'Delayed requests to the API server.', 'by'),
  queueDepth: gauge('queue_depth', 'Objects that wait for a worker.', 'queue'),
  queueActive: gauge('queue_active', 'Objects that workers process.', 'queue'),
  queueLongest: gauge('queue_longest_seconds', 'Age of the oldest work in progress.', 'queue'),
  queueAdds: counter('queue_adds_total', 'Objects added to a queue.', 'queue'),
  queueRetries: counter(
    'queue_retries_total',
    'Objects added to a queue again after a failure.',
    'queue',
  ),
  queueLatency: histogram(
    'queue_latency_seconds',
    'Time that an object waited for a worker.',
    'queue',
  ),
  queueWork: histogram('queue_work_duration_seconds', 'Processing time of an object.', 'queue'),
  eventsDropped: counter('events_dropped_total', 'Dropped Events.', 'reason'),
}
