// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A Grafana dashboard. */
export interface Dashboard {
  readonly title: string
  /** Labels with a variable, which filters all series that have the label. */
  readonly variables: readonly string[]
  /** Series whose label values the variables offer. */
  readonly of: string
  /**
   * A line per panel: title, unit and PromQL, separated by bars. `[r]` is Grafana's rate interval.
   * A line with `#` is a row. Panels of the row `Now` are single numbers.
   */
  readonly panels: string
}

/** Outcomes that the alert on the error ratio does not count as failures. */
const spared = '"success|node-error|abandoned"'
/** Subtracts the share of successes, since series of failures exist only after a failure. */
const shareFailed = (by: string) =>
  `1 - sum${by} (rate(router_requests_total{outcome=~${spared}}[r])) / sum${by} (rate(router_requests_total[r]))`

export const dashboards: Readonly<Record<string, Dashboard>> = {
  fleet: {
    title: 'rpc-router: fleet',
    variables: ['job'],
    of: 'router_build_info',
    panels: `
# Now
Routers                  | short       | count(router_build_info)
Calls a second           | reqps       | sum(rate(router_requests_total[r]))
Calls that fail          | percentunit | ${shareFailed('')}
p99                      | s           | histogram_quantile(0.99, sum by (le) (rate(router_request_duration_seconds_bucket[r])))
Listeners without a node | short       | count(sum by (instance, chain, interface) (router_upstream_state{state=~"eligible|lagging"}) == 0) or vector(0)
Breakers open            | short       | sum(router_breaker_open)
# Traffic
Calls                    | reqps       | sum by (chain, interface) (rate(router_requests_total[r]))
Share that fails         | percentunit | ${shareFailed(' by (chain, interface)')}
Failures by outcome      | reqps       | sum by (outcome) (rate(router_requests_total{outcome!~${spared}}[r]))
p50                      | s           | histogram_quantile(0.5, sum by (chain, interface, le) (rate(router_request_duration_seconds_bucket[r])))
p99                      | s           | histogram_quantile(0.99, sum by (chain, interface, le) (rate(router_request_duration_seconds_bucket[r])))
Refused requests         | reqps       | sum by (reason) (rate(router_requests_refused_total[r]))
Retries                  | reqps       | sum by (chain, interface) (rate(router_retries_total[r]))
Hedges that answered     | reqps       | sum by (chain, interface) (rate(router_attempts_total{kind="hedge",result="answer"}[r]))
Breakers open            | short       | sum by (chain, interface) (router_breaker_open)
# Cache
Share of hits            | percentunit | sum by (chain, interface) (rate(router_cache_lookups_total{verdict=~"hit|coalesced"}[r])) / sum by (chain, interface) (rate(router_cache_lookups_total{verdict=~"hit|coalesced|miss"}[r]))
Memory                   | bytes       | sum by (instance) (router_cache_bytes)
Evictions                | ops         | sum by (instance) (rate(router_cache_evictions_total[r]))
Store, p99               | s           | histogram_quantile(0.99, sum by (command, le) (rate(router_store_command_duration_seconds_bucket[r])))
Store, by outcome        | ops         | sum by (outcome) (rate(router_store_command_duration_seconds_count[r]))
Store failures           | ops         | sum by (instance) (rate(router_cache_store_failures_total[r]))
# Sticky sessions
Requests by outcome      | reqps       | sum by (outcome) (rate(router_csm_sticky_claims_total[r]))
Adopted from others      | reqps       | sum by (instance) (rate(router_csm_sticky_claims_total{outcome="adopted"}[r]))
Sessions in memory       | short       | sum by (instance) (router_csm_sticky_sessions)
# Replicas
CPU                      | short       | sum by (instance) (rate(router_process_cpu_seconds_total[r]))
Event loop busy          | percentunit | sum by (instance) (rate(router_process_event_loop_busy_seconds_total[r]))
Resident memory          | bytes       | sum by (instance) (router_process_resident_memory_bytes)
Bytes held               | percentunit | max by (instance) (router_buffered_bytes / router_buffered_bytes_limit)
Connections              | short       | sum by (instance) (router_client_connections)
Versions                 | short       | count by (version) (router_build_info)
`,
  },
  chain: {
    title: 'rpc-router: chain',
    variables: ['job', 'chain', 'interface'],
    of: 'router_upstream_state',
    panels: `
# Calls
Calls by method          | reqps       | topk(10, sum by (method) (rate(router_requests_total[r])))
Calls by outcome         | reqps       | sum by (outcome) (rate(router_requests_total[r]))
Share that fails         | percentunit | ${shareFailed(' by (chain, interface)')}
p99 of the slowest       | s           | topk(10, histogram_quantile(0.99, sum by (method, le) (rate(router_request_duration_seconds_bucket[r]))))
Retries by method        | reqps       | topk(10, sum by (method) (rate(router_retries_total[r])))
Attempts by kind         | reqps       | sum by (kind) (rate(router_attempts_total[r]))
# Chain
Tip                      | none        | max by (chain, interface) (router_chain_tip_block)
Upstreams by state       | short       | sum by (state) (router_upstream_state)
Blocks behind            | short       | max by (upstream) (router_upstream_lag_blocks)
Breaker opened           | short       | sum by (instance) (increase(router_breaker_trips_total[r]))
Cache by verdict         | reqps       | sum by (verdict) (rate(router_cache_lookups_total[r]))
Cache by class           | reqps       | sum by (class) (rate(router_cache_lookups_total{verdict=~"hit|coalesced"}[r]))
# Cross-validation
Calls by outcome         | reqps       | sum by (validation) (rate(router_cross_validations_total[r]))
Finalized mismatches     | short       | sum by (upstream) (increase(router_cross_validation_finalized_mismatches_total[r]))
Violations by check      | short       | sum by (check) (increase(router_integrity_violations_total[r]))
# Subscriptions
Subscriptions            | short       | sum by (topic) (router_subscriptions)
WebSockets               | short       | sum by (instance) (router_client_websockets)
Moved to another node    | short       | sum by (topic) (increase(router_subscription_moves_total[r]))
Blocks filled in         | short       | sum by (topic) (increase(router_subscription_filled_blocks_total[r]))
Events not fetched       | short       | sum by (topic) (increase(router_subscription_fetch_failures_total[r]))
Topics ended             | short       | sum by (topic) (increase(router_subscription_topics_ended_total[r]))
`,
  },
  upstream: {
    title: 'rpc-router: upstream',
    variables: ['job', 'chain', 'interface', 'upstream'],
    of: 'router_upstream_state',
    panels: `
# State
In which state           | short       | sum by (upstream, state) (router_upstream_state == 1)
Changes of state         | short       | sum by (upstream, to) (increase(router_upstream_state_changes_total[r]))
Score                    | percentunit | avg by (upstream) (router_upstream_score)
Blocks behind            | short       | max by (upstream) (router_upstream_lag_blocks)
Seconds behind           | s           | max by (upstream) (router_upstream_lag_seconds)
Latest block             | none        | max by (upstream) (router_upstream_latest_block)
URLs in cooldown         | short       | max by (upstream) (router_upstream_urls_held_off)
Cooldowns                | short       | sum by (upstream) (increase(router_upstream_hold_offs_total[r]))
Failed verifications     | short       | sum by (upstream, verification) (increase(router_upstream_verification_failures_total[r]))
# Attempts
Attempts                 | reqps       | sum by (upstream) (rate(router_attempts_total[r]))
Attempts by result       | reqps       | sum by (upstream, result) (rate(router_attempts_total[r]))
Share that fails         | percentunit | 1 - sum by (upstream) (rate(router_attempts_total{result=~"answer|node-error"}[r])) / sum by (upstream) (rate(router_attempts_total{result!="aborted"}[r]))
p50                      | s           | histogram_quantile(0.5, sum by (upstream, le) (rate(router_attempt_duration_seconds_bucket[r])))
p99                      | s           | histogram_quantile(0.99, sum by (upstream, le) (rate(router_attempt_duration_seconds_bucket[r])))
In flight                | short       | sum by (upstream) (router_upstream_sessions)
# Truth
Violations by check      | short       | sum by (upstream, check) (increase(router_integrity_violations_total[r]))
Blocks said to be absent | short       | sum by (upstream) (increase(router_missing_block_answers_total[r]))
Finalized mismatches     | short       | sum by (upstream) (increase(router_cross_validation_finalized_mismatches_total[r]))
`,
  },
  operator: {
    title: 'rpc-router: operator',
    variables: ['job'],
    of: 'rpc_operator_leader',
    panels: `
# Now
Leaders                  | short       | sum(rpc_operator_leader)
RpcRouters               | short       | count(max by (namespace, name) (rpc_operator_router_ready))
RpcRouters not Ready     | short       | count(max by (namespace, name) (rpc_operator_router_ready) == 0) or vector(0)
Rollouts that stall      | short       | sum(max by (namespace, name) (rpc_operator_router_stalled))
Quietest watch           | s           | max(rpc_operator_watch_silent_seconds)
Longest work             | s           | max(rpc_operator_queue_longest_seconds)
# Routers
Not Ready                | short       | max by (namespace, name) (rpc_operator_router_ready) == 0
Rollouts that stall      | short       | max by (namespace, name) (rpc_operator_router_stalled) == 1
Leader                   | short       | max by (instance) (rpc_operator_leader)
# Work
Reconciles by result     | ops         | sum by (controller, result) (rate(rpc_operator_reconcile_total[r]))
Reconcile, p99           | s           | histogram_quantile(0.99, sum by (controller, le) (rate(rpc_operator_reconcile_duration_seconds_bucket[r])))
Work, p99                | s           | histogram_quantile(0.99, sum by (queue, le) (rate(rpc_operator_queue_work_duration_seconds_bucket[r])))
Objects that wait        | short       | sum by (queue) (rpc_operator_queue_depth)
Wait, p99                | s           | histogram_quantile(0.99, sum by (queue, le) (rate(rpc_operator_queue_latency_seconds_bucket[r])))
Workers in use           | short       | sum by (queue) (rpc_operator_queue_active)
Added                    | ops         | sum by (queue) (rate(rpc_operator_queue_adds_total[r]))
Tried again              | ops         | sum by (queue) (rate(rpc_operator_queue_retries_total[r]))
Events dropped           | ops         | sum by (why) (rate(rpc_operator_events_dropped_total[r]))
# API server
Requests                 | reqps       | sum by (resource, verb) (rate(rpc_operator_api_requests_total[r]))
Requests by outcome      | reqps       | sum by (outcome) (rate(rpc_operator_api_requests_total[r]))
p99                      | s           | histogram_quantile(0.99, sum by (verb, le) (rate(rpc_operator_api_request_duration_seconds_bucket[r])))
Throttled                | reqps       | sum by (by) (rate(rpc_operator_api_throttled_total[r]))
Watches that failed      | ops         | sum by (resource, verb) (rate(rpc_operator_watch_failures_total[r]))
Silence of the watches   | s           | max by (instance) (rpc_operator_watch_silent_seconds)
`,
  },
}
