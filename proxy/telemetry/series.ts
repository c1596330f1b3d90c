// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

interface Row {
  readonly name: `router_${string}`
  /** Labels beside those of its group. Every value comes from the config, a chain spec or the router itself. */
  readonly and?: readonly string[]
  readonly help: string
  /** Upper bounds of a histogram's buckets, ascending, in the unit of its name. */
  readonly buckets?: readonly number[]
}

/** One metric family as a scraper sees it. */
export interface Series extends Row {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

const listener = ['chain', 'interface'] as const
const upstream = [...listener, 'upstream'] as const
const topic = [...listener, 'topic'] as const
const tieredUpstream = [...upstream, 'tier'] as const

/** 2 is a bound because the suggested alert asks for p99 above 2 s. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30]

/** Series that have these labels in common. The name of a counter ends with `_total`; what has buckets is a histogram. */
function labelled<const Rows extends Readonly<Record<string, Row>>>(
  common: readonly string[],
  rows: Rows,
) {
  const all = Object.entries(rows).map(([key, row]): [string, Series] => {
    const counted = row.name.endsWith('_total') ? 'counter' : 'gauge'
    const labels = [...common, ...(row.and ?? [])]
    return [key, { ...row, labels, type: row.buckets ? 'histogram' : counted }]
  })
  return Object.fromEntries(all) as { readonly [Key in keyof Rows]: Rows[Key] & Series }
}

/** Every series of the router, for the registry and `docs/reference/metrics.md`, which also describes the labels. */
export const series = {
  ...labelled(listener, {
    requests: {
      name: 'router_requests_total',
      and: ['method', 'outcome'],
      help: 'Calls that ended, a batch item being one call.',
    },
    requestDuration: {
      name: 'router_request_duration_seconds',
      and: ['method'],
      help: "Time from a call's arrival to its reply, whatever the outcome; abandoned calls are left out.",
      buckets: latencyBuckets,
    },
    retries: {
      name: 'router_retries_total',
      and: ['method'],
      help: 'Attempts at an upstream that were made because an earlier one failed; those by another URL of the same upstream are not counted.',
    },
    refused: {
      name: 'router_requests_refused_total',
      and: ['reason'],
      help: 'Requests refused before they became a call.',
    },
    connections: {
      name: 'router_client_connections',
      help: 'Open connections of clients, WebSockets included.',
    },
    sockets: {
      name: 'router_client_websockets',
      help: 'Open WebSockets of clients.',
    },
    crossValidations: {
      name: 'router_cross_validations_total',
      and: ['method', 'validation'],
      help: 'Calls that were cross-validated, by the outcome.',
    },
    breakerOpen: {
      name: 'router_breaker_open',
      help: '1 while calls fail at once, because two in a row found no upstream and there is still none that may be asked; else 0.',
    },
    breakerTrips: {
      name: 'router_breaker_trips_total',
      help: 'Times that the breaker opened.',
    },
    tip: {
      name: 'router_chain_tip_block',
      help: 'Latest block of the chain on which the upstreams agree; absent while unknown.',
    },
    cacheLookups: {
      name: 'router_cache_lookups_total',
      and: ['class', 'verdict'],
      help: 'Calls that ended, by what the cache did with them.',
    },
  }),
  ...labelled(topic, {
    subscriptions: {
      name: 'router_subscriptions',
      help: 'Subscriptions of clients.',
    },
    subscriptionFilled: {
      name: 'router_subscription_filled_blocks_total',
      help: 'Blocks or slots that no upstream announced in time, and that were fetched.',
    },
    subscriptionDuplicates: {
      name: 'router_subscription_duplicates_total',
      help: 'Events that were delivered before, and were dropped.',
    },
    subscriptionFetchFailures: {
      name: 'router_subscription_fetch_failures_total',
      help: 'Times that the next event of a topic could not be fetched. It is asked for again; later events wait.',
    },
    subscriptionsEnded: {
      name: 'router_subscription_topics_ended_total',
      help: 'Topics that could not go on without a hole; their clients were disconnected.',
    },
  }),
  ...labelled(upstream, {
    upstreamSubscriptions: {
      name: 'router_upstream_subscriptions',
      help: 'Subscriptions of the router at the upstream: one for each topic, however many clients.',
    },
    subscriptionMoves: {
      name: 'router_subscription_moves_total',
      and: ['topic', 'reason'],
      help: 'Times that a topic left the upstream, since it had `stalled` (its WebSocket accepts subscriptions and sends nothing), or for an `other` reason, such as a lost connection.',
    },
    attempts: {
      name: 'router_attempts_total',
      and: ['kind', 'result'],
      help: 'Attempts of calls at upstreams, by result.',
    },
    attemptDuration: {
      name: 'router_attempt_duration_seconds',
      help: 'Time that an attempt took, failed ones included; aborted ones are left out.',
      buckets: latencyBuckets,
    },
    integrityViolations: {
      name: 'router_integrity_violations_total',
      and: ['check'],
      help: 'Answers that do not fit their request, by the check that found it. Another upstream was asked.',
    },
    missingBlockAnswers: {
      name: 'router_missing_block_answers_total',
      help: 'Answers with null for a block that the corroborated tip says exists.',
    },
    finalizedMismatches: {
      name: 'router_cross_validation_finalized_mismatches_total',
      help: 'Answers about finalized blocks that differ from what most upstreams answered, or from each other where no answer has enough votes. The log has the evidence.',
    },
    stateChanges: {
      name: 'router_upstream_state_changes_total',
      and: ['to'],
      help: "Changes of an upstream's state.",
    },
    cooldowns: {
      name: 'router_upstream_hold_offs_total',
      help: 'Times that a cooldown of a URL of the upstream began, e.g. after HTTP 429.',
    },
    probes: {
      name: 'router_upstream_probes_total',
      help: 'Requests that the router itself sends to the upstream: verifications, and polls of its head and sync progress.',
    },
    verificationFailures: {
      name: 'router_upstream_verification_failures_total',
      and: ['verification'],
      help: 'Failed verifications of an upstream, one for each URL and each time.',
    },
  }),
  ...labelled(tieredUpstream, {
    upstreamState: {
      name: 'router_upstream_state',
      and: ['state'],
      help: '1 for the state that the upstream is in, 0 for each other one.',
    },
    upstreamStateSince: {
      name: 'router_upstream_state_timestamp_seconds',
      help: 'When the state of the upstream began, in seconds since the Unix epoch.',
    },
    sessions: {
      name: 'router_upstream_sessions',
      help: 'Attempts in flight at the upstream.',
    },
    latestBlock: {
      name: 'router_upstream_latest_block',
      help: 'Latest block that the upstream is known to have; absent while unknown.',
    },
    lagBlocks: {
      name: 'router_upstream_lag_blocks',
      help: 'Blocks that the upstream is behind the tip; absent while unknown.',
    },
    lagSeconds: {
      name: 'router_upstream_lag_seconds',
      help: 'Time that the upstream is behind the tip; absent while unknown.',
    },
    score: {
      name: 'router_upstream_score',
      help: 'Score from 0 to 1 by which the selection prefers upstreams, 1 for the best; absent while the upstream may not serve yet.',
    },
    urlsInCooldown: {
      name: 'router_upstream_urls_held_off',
      help: 'URLs of the upstream that are in cooldown.',
    },
  }),
  ...labelled([], {
    stickyClaims: {
      name: 'router_csm_sticky_claims_total',
      and: ['outcome'],
      help: 'Requests with `rpc-stickiness`, by how they came to the node of their session, or failed.',
    },
    stickySessions: {
      name: 'router_csm_sticky_sessions',
      help: 'Sessions whose node this replica has in memory.',
    },
    stickyStoreLosses: {
      name: 'router_csm_sticky_store_losses_total',
      help: 'Times that this replica found the store of sticky sessions restarted or without its data. Sessions fail for about 5 seconds then, while replicas restore theirs.',
    },
    cacheBytes: {
      name: 'router_cache_bytes',
      help: 'Memory that kept answers take, as it is counted for `cache-bytes`.',
    },
    cacheEntries: {
      name: 'router_cache_entries',
      help: 'Answers that are kept in memory, those that nobody may have any more among them.',
    },
    cacheEvictions: {
      name: 'router_cache_evictions_total',
      help: 'Kept answers that went since `cache-bytes` was full.',
    },
    cacheStoreFailures: {
      name: 'router_cache_store_failures_total',
      help: 'Commands that the store of `resp-cache` or `cache-be` refused, or did not answer in 50 ms. For a second it is then not asked; all is a miss.',
    },
    cacheStoreBroken: {
      name: 'router_cache_store_broken_total',
      help: 'Answers in the store of `resp-cache` or `cache-be` that could not be read: of another version, or damaged.',
    },
    storeDuration: {
      name: 'router_store_command_duration_seconds',
      and: ['command', 'outcome'],
      help: 'Time that commands took at the store of `resp-cache` or `cache-be`, for answers and for sessions. Those without a connection fail at once.',
      buckets: [0.0005, ...latencyBuckets.slice(0, -4)],
    },
    cacheServerCalls: {
      name: 'router_cache_service_calls_total',
      and: ['call', 'verdict'],
      help: 'Calls that `router cache` answered.',
    },
    heldBytes: {
      name: 'router_buffered_bytes',
      help: 'Bytes of requests and answers that the process holds.',
    },
    cutOffs: {
      name: 'router_clients_cut_off_total',
      help: 'Requests and answers that were cut off because their clients kept half of `--max-buffered-bytes` waiting.',
    },
    maxHeldBytes: {
      name: 'router_buffered_bytes_limit',
      help: 'Bytes of which no more are taken on: `--max-buffered-bytes`.',
    },
    config: {
      name: 'router_config_info',
      and: ['hash'],
      help: 'Always 1; the label is the SHA-256 of the config file that is served.',
    },
    configLoaded: {
      name: 'router_config_loaded_timestamp_seconds',
      help: 'Since when that config is served, in seconds since the Unix epoch.',
    },
    configCurrent: {
      name: 'router_config_last_reload_successful',
      help: '0 while the file was changed in a way that was refused, and the config before it is served; else 1.',
    },
    configReloads: {
      name: 'router_config_reloads_total',
      and: ['result'],
      help: 'Times that the config was read again: `applied` or `refused`.',
    },
    build: {
      name: 'router_build_info',
      and: ['version', 'runtime'],
      help: 'Always 1; the labels name the running build.',
    },
    startTime: {
      name: 'router_process_start_time_seconds',
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
      help: 'Memory outside the JavaScript heap that is bound to objects on it, such as bodies.',
    },
    eventLoopBusy: {
      name: 'router_process_event_loop_busy_seconds_total',
      help: 'Time that the event loop was not idle; its rate is the share of one core, 1 being saturated.',
    },
  }),
}
