// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

interface Case {
  /** Series with which the alert fires, a value per minute. */
  readonly broken: readonly string[]
  /** Series with which the alert does not fire. */
  readonly well: readonly string[]
  /** Other series with which it fires after five minutes, without labels. */
  readonly gone?: readonly string[]
  /** The first minute in which it fires. */
  readonly at: number
  readonly labels: Readonly<Record<string, string>>
  readonly says: string
}

const listener = { instance: 'a:7779', chain: 'ETH1', interface: 'jsonrpc' }
const fleet = { job: 'rpc/mainnet', chain: 'ETH1', interface: 'jsonrpc' }
const node = { ...listener, upstream: 'alpha' }
const router = { namespace: 'rpc', name: 'mainnet' }

const on = (labels: Readonly<Record<string, string>>) =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`
const state = (of: string, values: string, upstream = 'alpha') =>
  `router_upstream_state${on({ ...listener, upstream, tier: 'primary', state: of })} ${values}`
const calls = (outcome: string, values: string) =>
  `router_requests_total${on({ ...fleet, method: 'eth_call', outcome })} ${values}`
const took = (le: string, values: string) =>
  `router_request_duration_seconds_bucket${on({ ...fleet, method: 'eth_call', le })} ${values}`
const attempts = (result: string, values: string) =>
  `router_attempts_total${on({ ...fleet, upstream: 'alpha', kind: 'first', result })} ${values}`
const lookups = (verdict: string, values: string) =>
  `router_cache_lookups_total${on({ ...fleet, class: 'latest', verdict })} ${values}`
const claims = (outcome: string, values: string, instance = 'a:7779') =>
  `router_csm_sticky_claims_total${on({ job: 'rpc/mainnet', instance, outcome })} ${values}`
const leads = (pod: string, values: string, namespace = 'rpc-router-system') =>
  `rpc_operator_leader${on({ namespace, job: 'rpc-router-operator', pod })} ${values}`
const sessions = (instance: string) =>
  `router_csm_sticky_sessions${on({ job: 'rpc/mainnet', instance })} 50x200`

export const cases: Readonly<Record<string, Case>> = {
  RouterNoEndpointServing: {
    broken: [
      state('eligible', '1x4 0x20'),
      state('lagging', '0x30'),
      state('disabled', '0x4 1x20'),
    ],
    well: [state('eligible', '0x30'), state('lagging', '0x30'), state('lagging', '1x30', 'beta')],
    at: 6,
    labels: listener,
    says: 'ETH1 jsonrpc has no upstream that serves',
  },
  RouterErrorRatioHigh: {
    broken: [calls('success', '0+900x30'), calls('timeout', '0+100x30')],
    // Errors of the node and disconnects of clients do not count as failures.
    well: [
      calls('success', '0+900x30'),
      calls('timeout', '0+40x30'),
      calls('node-error', '0+500x30'),
      calls('abandoned', '0+500x30'),
    ],
    at: 6,
    labels: fleet,
    says: '10% of calls to ETH1 jsonrpc fail',
  },
  RouterLatencyHigh: {
    broken: [took('2', '0+900x30'), took('5', '0+1000x30'), took('+Inf', '0+1000x30')],
    well: [took('2', '0+995x30'), took('5', '0+1000x30'), took('+Inf', '0+1000x30')],
    at: 6,
    labels: fleet,
    says: '1 % of calls to ETH1 jsonrpc take 4.7s or longer',
  },
  RouterBreakerOpen: {
    broken: [`router_breaker_open${on(listener)} 0x4 1x20`],
    well: [`router_breaker_open${on(listener)} 0x4 1 0x20`],
    at: 6,
    labels: listener,
    says: 'calls to ETH1 jsonrpc fail at once: no upstream may serve them',
  },
  RouterUpstreamDisabled: {
    broken: [state('disabled', '1x30')],
    well: [state('disabled', '1x8 0x4 1x30')],
    at: 10,
    labels: node,
    says: 'alpha of ETH1 jsonrpc keeps failing',
  },
  RouterUpstreamRejected: {
    broken: [state('rejected', '1x30')],
    well: [state('rejected', '0x30'), state('disabled', '1x30')],
    at: 1,
    labels: node,
    says: 'alpha of ETH1 jsonrpc does not match the config',
  },
  RouterFinalizedMismatch: {
    broken: [
      `router_cross_validation_finalized_mismatches_total${on({ ...fleet, upstream: 'alpha' })} 3x4 4x20`,
    ],
    well: [
      `router_cross_validation_finalized_mismatches_total${on({ ...fleet, upstream: 'alpha' })} 3x30`,
    ],
    at: 5,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'alpha differs from others about a finalized block of ETH1 jsonrpc',
  },
  RouterUpstreamLagging: {
    broken: [state('lagging', '1x30')],
    well: [state('lagging', '1x8 0 1x8 0 1x8')],
    at: 10,
    labels: node,
    says: 'alpha of ETH1 jsonrpc is behind the chain',
  },
  RouterUpstreamInCooldown: {
    broken: [`router_upstream_urls_in_cooldown${on({ ...node, tier: 'primary' })} 1x40`],
    well: [
      `router_upstream_urls_in_cooldown${on({ ...node, tier: 'primary' })} 1x10 0x4 1x10 0x20`,
    ],
    at: 15,
    labels: node,
    says: 'alpha of ETH1 jsonrpc limits our calls (rate or quota)',
  },
  RouterUpstreamUnreliable: {
    broken: [attempts('answer', '0+70x30'), attempts('overtaken', '0+30x30')],
    well: [
      attempts('answer', '0+70x30'),
      attempts('aborted', '0+900x30'),
      attempts('overtaken', '0+10x30'),
    ],
    at: 6,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'alpha of ETH1 jsonrpc fails or hangs in 30% of its first attempts',
  },
  RouterOutOfResources: {
    broken: [`router_out_of_resources${on({ instance: 'a:7779', resource: 'files' })} 0x4 1x20`],
    well: [`router_out_of_resources${on({ instance: 'a:7779', resource: 'files' })} 0x4 1 0x20`],
    at: 6,
    labels: { instance: 'a:7779', resource: 'files' },
    says: 'a:7779 has no files left',
  },
  RouterFilesNearLimit: {
    broken: [
      'router_process_open_fds{instance="a:7779"} 950x30',
      'router_process_max_fds{instance="a:7779"} 1000x30',
    ],
    well: [
      'router_process_open_fds{instance="a:7779"} 950x4 850x30',
      'router_process_max_fds{instance="a:7779"} 1000x40',
    ],
    at: 5,
    labels: { instance: 'a:7779' },
    says: 'a:7779 uses 95% of the files that it may open',
  },
  RouterEventLoopDelayed: {
    broken: ['router_process_event_loop_delay_seconds{instance="a:7779",quantile="0.99"} 0.25x30'],
    well: [
      'router_process_event_loop_delay_seconds{instance="a:7779",quantile="0.99"} 0.05x30',
      'router_process_event_loop_delay_seconds{instance="a:7779",quantile="1"} 2x30',
    ],
    at: 5,
    labels: { instance: 'a:7779' },
    says: 'the event loop of a:7779 is 250ms late',
  },
  RouterConfigRefused: {
    broken: ['router_config_last_reload_successful{instance="a:7779"} 1x3 0x30'],
    well: ['router_config_last_reload_successful{instance="a:7779"} 1x3 0x8 1x30'],
    at: 14,
    labels: { instance: 'a:7779' },
    says: 'a:7779 refuses its changed config and keeps the previous one',
  },
  RouterSubscriptionStuck: {
    broken: [
      `router_subscription_fetch_failures_total${on({ ...listener, topic: 'newHeads' })} 0+6x40`,
    ],
    well: [
      `router_subscription_fetch_failures_total${on({ ...listener, topic: 'newHeads' })} 0+1x40`,
    ],
    at: 13,
    labels: { ...listener, topic: 'newHeads' },
    says: 'the next event of newHeads of ETH1 cannot be fetched',
  },
  RouterCacheHitsLow: {
    broken: [lookups('hit', '0+5x90'), lookups('coalesced', '0+5x90'), lookups('miss', '0+90x90')],
    // Calls that bypass the cache do not count.
    well: [lookups('hit', '0+30x90'), lookups('miss', '0+70x90'), lookups('bypass', '0+900x90')],
    at: 31,
    labels: fleet,
    says: 'only 10% of calls to ETH1 jsonrpc are answered by the cache',
  },
  RouterStickySessionsFail: {
    broken: [claims('local_hit', '0+90x30'), claims('error', '0+10x30')],
    well: [
      claims('local_hit', '0+90x30'),
      claims('lost_race', '0+10x30'),
      claims('error', '0+1x30'),
    ],
    at: 6,
    labels: { job: 'rpc/mainnet' },
    says: '10% of sticky requests to rpc/mainnet find no node',
  },
  RouterStickyNotShared: {
    broken: [
      claims('claimed', '0+2x200'),
      claims('adopted', '0x200'),
      sessions('a:7779'),
      sessions('b:7779'),
    ],
    well: [
      claims('claimed', '0+2x200'),
      claims('adopted', '0x30 1x200', 'b:7779'),
      sessions('a:7779'),
    ],
    at: 26,
    labels: { job: 'rpc/mainnet' },
    says: 'the replicas of rpc/mainnet do not share their sticky sessions',
  },
  OperatorNoLeader: {
    // Another operator leads in its own namespace.
    broken: [leads('a', '1x4 0x20'), leads('b', '0x30'), leads('c', '1x30', 'other')],
    well: [leads('a', '0x30'), leads('b', '0x3 1x30')],
    // An operator without pods has no series.
    gone: ['up{job="rpc-router-operator"} 0x30'],
    at: 10,
    labels: { namespace: 'rpc-router-system', job: 'rpc-router-operator' },
    says: 'no replica of the operator leads: changes are not applied',
  },
  OperatorReconcileErrors: {
    broken: ['rpc_operator_reconcile_total{controller="rpcrouter",result="error"} 0+2x40'],
    well: [
      'rpc_operator_reconcile_total{controller="rpcrouter",result="retry"} 0+9x40',
      'rpc_operator_reconcile_total{controller="rpcrouter",result="error"} 0x3 2x40',
    ],
    at: 13,
    labels: { controller: 'rpcrouter' },
    says: '20 reconciles of rpcrouter failed in ten minutes',
  },
  OperatorWatchSilent: {
    broken: ['rpc_operator_watch_silent_seconds{pod="a",instance="a:8080"} 0+60x20'],
    well: ['rpc_operator_watch_silent_seconds{pod="a",instance="a:8080"} 60x30'],
    at: 7,
    labels: { pod: 'a', instance: 'a:8080' },
    says: 'a watch of a:8080 received nothing for 7m 0s',
  },
  OperatorQueueStuck: {
    broken: ['rpc_operator_queue_longest_seconds{queue="rpcrouter"} 0+60x20'],
    well: ['rpc_operator_queue_longest_seconds{queue="rpcrouter"} 60x30'],
    at: 7,
    labels: { queue: 'rpcrouter' },
    says: 'one rpcrouter has been processed for 7m 0s',
  },
  RpcRouterNotReady: {
    broken: [`rpc_operator_router_ready${on(router)} 1x4 0x30`],
    well: [`rpc_operator_router_ready${on(router)} 0x10 1 0x10 1x30`],
    at: 20,
    labels: router,
    says: 'the RpcRouter rpc/mainnet is not Ready',
  },
  RpcRouterRolloutStalled: {
    broken: [`rpc_operator_router_stalled${on(router)} 0x4 1x30`],
    well: [
      `rpc_operator_router_stalled${on(router)} 0x30`,
      `rpc_operator_router_ready${on(router)} 0x30`,
    ],
    at: 10,
    labels: router,
    says: 'new pods of the RpcRouter rpc/mainnet do not become ready',
  },
  RpcRouterRolloutStopped: {
    broken: [`rpc_operator_router_stopped${on(router)} 0x4 1x30`],
    well: [
      `rpc_operator_router_stopped${on(router)} 1x3 0 1x3 0x30`,
      `rpc_operator_router_stalled${on(router)} 1x30`,
    ],
    at: 10,
    labels: router,
    says: 'new pods of the RpcRouter rpc/mainnet cannot reach a chain that old ones serve',
  },
}
