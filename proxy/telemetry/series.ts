// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

import { labelled } from './series-row.ts'

export type { Series } from './series-row.ts'

const listener = ['chain', 'interface'] as const
const upstream = [...listener, 'upstream'] as const
const topic = [...listener, 'topic'] as const
const tieredUpstream = [...upstream, 'tier'] as const

/** Includes 2, because the suggested alert is for a p99 above 2 s. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30]

/** Every series of the router, for the registry and `docs/reference/metrics.md`. */
export const series = {
  ...labelled(listener, {
    requests: {
      name: 'router_requests_total',
      and: ['method', 'outcome'],
      help: 'Finished calls; each item of a batch is one call.',
    },
    requestDuration: {
      name: 'router_request_duration_seconds',
      and: ['method'],
      help: "Time from a call's arrival to its reply, whatever the outcome. Abandoned calls are excluded.",
      buckets: latencyBuckets,
    },
    nodeErrors: {
      name: 'router_node_errors_total',
      and: ['method'],
      help: 'Calls that failed with a node error that they did not cause, such as `txpool is full`. Reverts, rejected transactions, limits of a range and mistakes of callers are excluded.',
    },
    retries: {
      name: 'router_retries_total',
      and: ['method'],
      help: 'Attempts at an upstream after an earlier one failed. Attempts by another URL of the same upstream are excluded.',
    },
    logsBlocks: {
      name: 'router_logs_blocks_total',
      and: ['source'],
      help: 'Blocks in queries for logs of a range: `client` (all blocks of the queries), `cache` (read from slices), `upstream` (in requests to upstreams, repeated and verifying ones included).',
    },
    logsRequests: {
      name: 'router_logs_requests_total',
      help: 'Requests to upstreams for the logs of a range. A query may take several.',
    },
    refused: {
      name: 'router_requests_refused_total',
      and: ['reason'],
      help: 'Requests that the router refused, most of them because of a mistake of the caller.',
    },
    connections: {
      name: 'router_client_connections',
      help: 'Open client connections, including WebSockets.',
    },
    sockets: {
      name: 'router_client_websockets',
      help: 'Open client WebSockets.',
    },
    crossValidations: {
      name: 'router_cross_validations_total',
      and: ['method', 'validation'],
      help: 'Cross-validated calls, by outcome.',
    },
    breakerOpen: {
      name: 'router_breaker_open',
      workers: 'max',
      help: '1 while calls fail at once, since two in a row found no available upstream and none is available yet; else 0.',
    },
    breakerTrips: {
      name: 'router_breaker_trips_total',
      help: 'Number of times that the breaker opened.',
    },
    tip: {
      name: 'router_chain_tip_block',
      workers: 'max',
      help: 'Latest block on which the upstreams agree; absent while unknown.',
    },
    onBackup: {
      name: 'router_backup_tier_serving',
      workers: 'max',
      help: '1 while no primary upstream takes calls and the backup tier does; else 0.',
    },
    cacheLookups: {
      name: 'router_cache_lookups_total',
      and: ['class', 'verdict'],
      help: 'Finished calls, by the result of the cache.',
    },
  }),
  ...labelled(topic, {
    subscriptions: {
      name: 'router_subscriptions',
      help: 'Client subscriptions.',
    },
    subscriptionFilled: {
      name: 'router_subscription_filled_blocks_total',
      help: 'Blocks or slots that no upstream announced in time and the router fetched.',
    },
    subscriptionDuplicates: {
      name: 'router_subscription_duplicates_total',
      help: 'Duplicate events that were dropped.',
    },
    subscriptionFetchFailures: {
      name: 'router_subscription_fetch_failures_total',
      help: 'Number of times that the next event of a topic could not be fetched. The router retries, and later events wait.',
    },
    subscriptionsEnded: {
      name: 'router_subscription_topics_ended_total',
      help: 'Topics that ended because of a gap; their clients were disconnected.',
    },
  }),
  ...labelled(upstream, {
    upstreamSubscriptions: {
      name: 'router_upstream_subscriptions',
      help: 'Subscriptions of the router at the upstream: one for each topic, regardless of the number of clients.',
    },
    subscriptionMoves: {
      name: 'router_subscription_moves_total',
      and: ['topic', 'reason'],
      help: 'Number of times that a topic left the upstream: `stalled` if its WebSocket accepts subscriptions and sends nothing, `other` for another reason, such as a lost connection.',
    },
    attempts: {
      name: 'router_attempts_total',
      and: ['kind', 'result'],
      help: 'Attempts of calls at upstreams, by result.',
    },
    attemptDuration: {
      name: 'router_attempt_duration_seconds',
      help: 'Time of attempts, including failed ones, and those that a hedge overtook until then. Aborted attempts are excluded.',
      buckets: latencyBuckets,
    },
    urlRequests: {
      name: 'router_upstream_url_requests_total',
      and: ['url', 'result'],
      help: 'Requests of calls and probes to the URL of the upstream: `answered`, `failed` or `overtaken` (a hedge answered, and the node had taken longer than usual). `url` is the position in the config, from 1.',
    },
    integrityViolations: {
      name: 'router_integrity_violations_total',
      and: ['check'],
      help: 'Answers that do not match their request, by the check that found it. The router then tries another upstream.',
    },
    logsMismatches: {
      name: 'router_logs_mismatches_total',
      and: ['verdict'],
      help: 'Logs of final blocks that differ from those of a second upstream: `wrong` if a header or third upstream refutes them, `undecided`, of both upstreams, if nothing can decide.',
    },
    missingBlockAnswers: {
      name: 'router_missing_block_answers_total',
      help: 'Null answers for a block that exists according to the corroborated tip.',
    },
    finalizedMismatches: {
      name: 'router_cross_validation_finalized_mismatches_total',
      help: 'Answers about finalized blocks that differ from the majority, or from each other where no answer has enough votes. The log has the evidence.',
    },
    stateChanges: {
      name: 'router_upstream_state_changes_total',
      and: ['to'],
      help: 'State changes of an upstream.',
    },
    cooldowns: {
      name: 'router_upstream_cooldowns_total',
      help: 'Cooldowns of URLs of the upstream, e.g. after HTTP 429.',
    },
    probes: {
      name: 'router_upstream_probes_total',
      help: 'Requests of the router itself to the upstream: verifications, and polls of its head and sync progress.',
    },
    verificationFailures: {
      name: 'router_upstream_verification_failures_total',
      and: ['verification'],
      help: 'Failed verifications of an upstream, counted per URL.',
    },
  }),
  ...labelled(tieredUpstream, {
    upstreamState: {
      name: 'router_upstream_state',
      workers: 'max',
      and: ['state'],
      help: '1 for the current state of the upstream, 0 for the other states.',
    },
    upstreamStateSince: {
      name: 'router_upstream_state_timestamp_seconds',
      workers: 'max',
      help: 'Start of the current state of the upstream, in seconds since the Unix epoch.',
    },
    sessions: {
      name: 'router_upstream_sessions',
      help: 'Attempts in flight at the upstream.',
    },
    latestBlock: {
      name: 'router_upstream_latest_block',
      workers: 'max',
      help: 'Latest block that the upstream is known to have; absent while unknown.',
    },
    lagBlocks: {
      name: 'router_upstream_lag_blocks',
      workers: 'max',
      help: 'Lag of the upstream behind the tip in blocks; absent while unknown.',
    },
    lagSeconds: {
      name: 'router_upstream_lag_seconds',
      workers: 'max',
      help: 'Lag of the upstream behind the tip as time; absent while unknown.',
    },
    score: {
      name: 'router_upstream_score',
      workers: 'min',
      help: 'Selection score of the upstream from 0 to 1, the best; absent while the upstream may not serve yet.',
    },
    urlServing: {
      name: 'router_upstream_url_serving',
      workers: 'min',
      and: ['url'],
      help: '1 while the URL of the upstream serves, else 0: not verified, in cooldown, or failing repeatedly. `url` is its position in the config, from 1.',
    },
    urlsInCooldown: {
      name: 'router_upstream_urls_in_cooldown',
      workers: 'max',
      help: 'URLs of the upstream in cooldown.',
    },
    learnedLimit: {
      name: 'router_upstream_learned_limit_per_second',
      help: 'Lowest limit, in requests per second, that the router has learned from refusals of a URL of the upstream; absent while there is none.',
    },
    learnedLogBlocks: {
      name: 'router_upstream_learned_log_blocks',
      workers: 'min',
      help: 'Smallest range, in blocks per request for logs, that the router has learned from refusals of a URL of the upstream; absent while there is none.',
    },
  }),
  ...labelled([], {
    stickyClaims: {
      name: 'router_csm_sticky_claims_total',
      and: ['outcome'],
      help: 'Requests with `rpc-stickiness`, by how they reached the node of their session, or failed.',
    },
    stickySessions: {
      name: 'router_csm_sticky_sessions',
      help: 'Sessions in the memory of this replica.',
    },
    stickyStoreLosses: {
      name: 'router_csm_sticky_store_losses_total',
      help: 'Number of times that this replica found the store of sticky sessions restarted or without its data. Sessions then fail for about 5 seconds, while replicas restore theirs.',
    },
    cacheBytes: {
      name: 'router_cache_bytes',
      help: 'Memory of cached answers, as counted for `cache-bytes`.',
    },
    cacheEntries: {
      name: 'router_cache_entries',
      help: 'Answers cached in memory, including expired ones.',
    },
    cacheEvictions: {
      name: 'router_cache_evictions_total',
      help: 'Cached answers evicted because `cache-bytes` was full.',
    },
    cacheStoreFailures: {
      name: 'router_cache_store_failures_total',
      help: 'Commands that the store of `resp-cache` or `cache-be` refused, or did not answer in 50 ms. The router then skips the store for a second, and all calls are misses.',
    },
    cacheStoreBroken: {
      name: 'router_cache_store_broken_total',
      help: 'Unreadable answers in the store of `resp-cache` or `cache-be`: damaged, or of another version.',
    },
    storeDuration: {
      name: 'router_store_command_duration_seconds',
      and: ['command', 'outcome'],
      help: 'Time of commands at the store of `resp-cache` or `cache-be`, for answers and for sessions. Without a connection they fail at once.',
      buckets: [0.0005, ...latencyBuckets.slice(0, -4)],
    },
    cacheServerCalls: {
      name: 'router_cache_service_calls_total',
      and: ['call', 'verdict'],
      help: 'Calls that `router cache` answered.',
    },
    heldBytes: {
      name: 'router_buffered_bytes',
      help: 'Bytes of requests and answers in the process.',
    },
    cutOffs: {
      name: 'router_clients_cut_off_total',
      help: 'Requests and answers cut off because their slow clients kept half of `--max-buffered-bytes` waiting.',
    },
    maxHeldBytes: {
      name: 'router_buffered_bytes_limit',
      help: 'Limit of buffered bytes, from `--max-buffered-bytes`.',
    },
    config: {
      name: 'router_config_info',
      workers: 'first',
      and: ['hash'],
      help: 'Always 1; the label is the SHA-256 of the active config file.',
    },
    configLoaded: {
      name: 'router_config_loaded_timestamp_seconds',
      workers: 'first',
      help: 'Start of the active config, in seconds since the Unix epoch.',
    },
    configCurrent: {
      name: 'router_config_last_reload_successful',
      workers: 'first',
      help: '0 while the router refuses a changed config file and keeps the previous config; else 1.',
    },
    configReloads: {
      name: 'router_config_reloads_total',
      workers: 'first',
      and: ['result'],
      help: 'Config reloads: `applied` or `refused`.',
    },
    workers: {
      name: 'router_workers',
      help: 'Processes that serve and answer their supervisor; absent without `--workers`.',
    },
    workerRestarts: {
      name: 'router_worker_restarts_total',
      help: 'Workers that ended and were replaced; absent without `--workers`.',
    },
    build: {
      name: 'router_build_info',
      workers: 'first',
      and: ['version', 'runtime'],
      help: 'Always 1; the labels name the running build.',
    },
    startTime: {
      name: 'router_process_start_time_seconds',
      workers: 'first',
      help: 'Start of the process, in seconds since the Unix epoch.',
    },
    cpu: {
      name: 'router_process_cpu_seconds_total',
      help: 'User and system CPU time of the process.',
    },
    residentMemory: {
      name: 'router_process_resident_memory_bytes',
      help: 'Resident memory of the process.',
    },
    heapUsed: {
      name: 'router_process_heap_used_bytes',
      help: 'Memory in use on the JavaScript heap.',
    },
    externalMemory: {
      name: 'router_process_external_memory_bytes',
      help: 'Memory outside the JavaScript heap that belongs to objects on it, such as bodies.',
    },
    reorgs: {
      name: 'router_reorgs_total',
      workers: 'max',
      and: ['chain', 'depth'],
      help: 'Reorgs of blocks that clients had seen, by the number of replaced blocks: `1`, `2-6` or `7+`. A block counts once two upstreams have shown it, or the only one in use.',
    },
    outOfResources: {
      name: 'router_out_of_resources',
      workers: 'max',
      and: ['resource'],
      help: '1 if the router itself lacked the resource within the last minute, else 0. No upstream is at fault.',
    },
    openFiles: {
      name: 'router_process_open_fds',
      workers: 'max',
      help: 'Open files and sockets of the process. Linux only.',
    },
    maxFiles: {
      name: 'router_process_max_fds',
      workers: 'max',
      help: 'Limit of open files and sockets of the process. Linux only.',
    },
    eventLoopDelay: {
      name: 'router_process_event_loop_delay_seconds',
      workers: 'max',
      and: ['quantile'],
      help: 'Delay of the event loop since the last scrape, or over at least 5 seconds.',
    },
    gc: {
      name: 'router_process_gc_seconds_total',
      help: 'Time that garbage collection took. Its rate is the share of one core.',
    },
    eventLoopBusy: {
      name: 'router_process_event_loop_busy_seconds_total',
      help: 'Time that the event loop was busy. Its rate is the share of one core, with 1 for saturation.',
    },
  }),
}
