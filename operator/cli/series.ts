// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One metric family of the operator as a scraper sees it. */
export interface Series<L extends LabelName = LabelName> {
  readonly name: `rpc_operator_${string}`
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly L[]
  readonly help: string
}

/** What each label holds. */
export const labelMeanings = {
  controller: '`rpcrouter` or `upstreamprovider`: the kind that is reconciled',
  queue: '`rpcrouter` or `upstreamprovider`: the controller whose queue it is',
  result:
    '`success`; `requeue` (it went well, and comes again by itself); `retry` (it failed by what often passes in a moment); `error`; `timeout`; `stopped` (the operator ended, or lost its lease)',
  resource: 'plural name of the kind, e.g. `deployments`',
  verb: '`get`, `list`, `watch`, `create`, `update`, `patch` or `delete`',
  outcome:
    'the HTTP status; else the code of the failure, e.g. `OP_KUBE_CONNECTION`; `aborted` when nobody waited any more',
  by: '`client` (the limit of `--qps`) or `server` (it asked for patience)',
  why: '`rate` (too many about one object), `full` (too many wait) or `error` (the API server refused it)',
  namespace: 'of the RpcRouter',
  name: 'of the RpcRouter',
} as const

export type LabelName = keyof typeof labelMeanings

/** Upper bounds of all histograms' buckets, in seconds. */
export const secondBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]

/** Every series of the operator: its registry and `docs/reference/operator-metrics.md` are made from it. */
export const series = {
  routerReady: {
    name: 'rpc_operator_router_ready',
    type: 'gauge',
    labels: ['namespace', 'name'],
    help: '1 for an RpcRouter that is Ready, else 0.',
  },
  reconciles: {
    name: 'rpc_operator_reconcile_total',
    type: 'counter',
    labels: ['controller', 'result'],
    help: 'Reconciles by their result.',
  },
  reconcileTime: {
    name: 'rpc_operator_reconcile_duration_seconds',
    type: 'histogram',
    labels: ['controller'],
    help: 'Time of a reconcile.',
  },
  leader: {
    name: 'rpc_operator_leader',
    type: 'gauge',
    labels: [],
    help: '1 while this process leads, else 0; without leader election always 0.',
  },
  watchSilence: {
    name: 'rpc_operator_watch_silent_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time since the quietest watch was heard of; of one whose first list is not there yet since the start.',
  },
  watchFailures: {
    name: 'rpc_operator_watch_failures_total',
    type: 'counter',
    labels: ['resource', 'verb'],
    help: 'Lists and watches that failed, and were tried again.',
  },
  requests: {
    name: 'rpc_operator_api_requests_total',
    type: 'counter',
    labels: ['resource', 'verb', 'outcome'],
    help: 'Requests to the API server that ended.',
  },
  requestTime: {
    name: 'rpc_operator_api_request_duration_seconds',
    type: 'histogram',
    labels: ['verb'],
    help: 'Time of a request to the API server; watches are left out.',
  },
  throttled: {
    name: 'rpc_operator_api_throttled_total',
    type: 'counter',
    labels: ['by'],
    help: 'Requests to the API server that had to wait.',
  },
  queueDepth: {
    name: 'rpc_operator_queue_depth',
    type: 'gauge',
    labels: ['queue'],
    help: 'Objects that wait for a worker.',
  },
  queueActive: {
    name: 'rpc_operator_queue_active',
    type: 'gauge',
    labels: ['queue'],
    help: 'Objects that workers have.',
  },
  queueLongest: {
    name: 'rpc_operator_queue_longest_seconds',
    type: 'gauge',
    labels: ['queue'],
    help: 'How long the longest work takes so far.',
  },
  queueAdds: {
    name: 'rpc_operator_queue_adds_total',
    type: 'counter',
    labels: ['queue'],
    help: 'Objects that were added to a queue.',
  },
  queueRetries: {
    name: 'rpc_operator_queue_retries_total',
    type: 'counter',
    labels: ['queue'],
    help: 'Objects that went back to a queue after a failure.',
  },
  queueLatency: {
    name: 'rpc_operator_queue_latency_seconds',
    type: 'histogram',
    labels: ['queue'],
    help: 'Time that an object waited for a worker.',
  },
  queueWork: {
    name: 'rpc_operator_queue_work_duration_seconds',
    type: 'histogram',
    labels: ['queue'],
    help: 'Time that an object was worked on.',
  },
  eventsDropped: {
    name: 'rpc_operator_events_dropped_total',
    type: 'counter',
    labels: ['why'],
    help: 'Events that were not told.',
  },
} as const satisfies Readonly<Record<string, Series>>
