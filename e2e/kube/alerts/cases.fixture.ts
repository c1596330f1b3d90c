// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

interface Sibling {
  readonly when: string
  readonly series: readonly string[]
  /** The first and the last minute between which it fires without a break. */
  readonly from: number
  readonly to: number
}

interface Case {
  /** Series with which the alert fires, a value per minute. */
  readonly broken: readonly string[]
  /** Series for which the alert never fires. */
  readonly well: readonly string[]
  /** Series that flap, the first event, and a total outage, as far as the alert knows them. */
  readonly also: readonly Sibling[]
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
const nodeErrors = (method: string, values: string) =>
  `router_node_errors_total${on({ ...fleet, method })} ${values}`
const callsOf = (method: string, outcome: string, values: string) =>
  `router_requests_total${on({ ...fleet, method, outcome })} ${values}`
const attempts = (result: string, values: string) =>
  `router_attempts_total${on({ ...fleet, upstream: 'alpha', kind: 'first', result })} ${values}`
const requests = (result: string, values: string, upstream = 'alpha', url = '2') =>
  `router_upstream_url_requests_total${on({ ...fleet, upstream, url, result })} ${values}`
const refusals = (reason: string, values: string, chain = 'ETH1') =>
  `router_requests_refused_total${on({ ...fleet, chain, reason })} ${values}`
const moves = (reason: string, values: string, topic = 'newHeads', instance = 'a:7779') =>
  `router_subscription_moves_total${on({ ...fleet, instance, upstream: 'alpha', topic, reason })} ${values}`
const storeFailures = (values: string) =>
  `router_cache_store_failures_total${on({ job: 'rpc/mainnet', instance: 'a:7779' })} ${values}`
const onBackup = (values: string) => `router_backup_tier_serving${on(listener)} ${values}`
const reorgs = (depth: string, values: string, chain = 'ETH1') =>
  `router_reorgs_total${on({ job: 'rpc/mainnet', instance: 'a:7779', chain, depth })} ${values}`
const claims = (outcome: string, values: string, instance = 'a:7779') =>
  `router_csm_sticky_claims_total${on({ job: 'rpc/mainnet', instance, outcome })} ${values}`
const leads = (pod: string, values: string, namespace = 'rpc-router-system') =>
  `rpc_operator_leader${on({ namespace, job: 'rpc-router-operator', pod })} ${values}`
const sessions = (instance: string) =>
  `router_csm_sticky_sessions${on({ job: 'rpc/mainnet', instance })} 50x200`

const up = (instance: string, values: string, job = 'rpc/mainnet') =>
  `up${on({ job, instance })} ${values}`
const build = (instance: string, values: string) =>
  `router_build_info${on({ job: 'rpc/mainnet', instance, version: '1' })} ${values}`
const config = (instance: string, hash: string, values: string) =>
  `router_config_info${on({ job: 'rpc/mainnet', instance, hash })} ${values}`
const restarts = (values: string, instance = 'a:7779') =>
  `router_worker_restarts_total${on({ job: 'rpc/mainnet', instance })} ${values}`
const violations = (check: string, values: string) =>
  `router_integrity_violations_total${on({ ...fleet, upstream: 'alpha', check })} ${values}`
const logs = (verdict: string, values: string) =>
  `router_logs_mismatches_total${on({ ...fleet, upstream: 'alpha', verdict })} ${values}`
/** Series for an upstream of two URLs: 1 while a URL serves, else 0. */
const urls = (first: string, second: string, upstream = 'alpha') =>
  [first, second].map((values, at) => {
    const labels = { ...listener, upstream, tier: 'primary', url: String(at + 1) }
    return `router_upstream_url_serving${on(labels)} ${values}`
  })
const cooling = (values: string) =>
  `router_upstream_urls_in_cooldown${on({ ...node, tier: 'primary' })} ${values}`

export const cases: Readonly<Record<string, Case>> = {
  RouterDown: {
    broken: [
      up('a:7779', '1x4 0x30'),
      build('a:7779', '1x4 stale'),
      up('b:7779', '1x4 0x30'),
      build('b:7779', '1x4 stale'),
    ],
    // A replica is left. The target of another job was never a router.
    well: [
      up('a:7779', '1x4 0x30'),
      build('a:7779', '1x4 stale'),
      up('b:7779', '1x40'),
      build('b:7779', '1x40'),
      up('c:9100', '0x30', 'nodes'),
    ],
    also: [
      {
        when: 'its targets disappear',
        series: [up('a:7779', '1x4 stale'), build('a:7779', '1x4 stale')],
        from: 7,
        to: 60,
      },
      {
        when: 'it stays down',
        series: [up('a:7779', '1x4 0x300'), build('a:7779', '1x4 stale')],
        from: 7,
        to: 300,
      },
    ],
    at: 7,
    labels: { job: 'rpc/mainnet' },
    says: 'no router of rpc/mainnet can be scraped',
  },
  RouterReplicaDown: {
    broken: [
      up('a:7779', '1x40'),
      build('a:7779', '1x40'),
      up('b:7779', '1x4 0x30'),
      build('b:7779', '1x4 stale'),
    ],
    // All replicas are down, which the other alert reports.
    well: [up('b:7779', '1x4 0x30'), build('b:7779', '1x4 stale')],
    also: [
      {
        when: 'it flaps every quarter of an hour',
        series: [up('a:7779', '1x60'), build('a:7779', '1x60'), up('b:7779', '1x4 0x40')],
        from: 10,
        to: 40,
      },
    ],
    at: 10,
    labels: { job: 'rpc/mainnet', instance: 'b:7779' },
    says: 'b:7779 of rpc/mainnet cannot be scraped',
  },
  RouterWorkerReplaced: {
    broken: [restarts('0x4 1x60')],
    // A restart of the whole router is not a replaced worker.
    well: [restarts('3x40 0x20'), restarts('0x40', 'b:7779')],
    also: [
      { when: 'one worker hung once', series: [restarts('0x4 1x60')], from: 5, to: 33 },
      { when: 'all workers end', series: [restarts('0x4 8x60')], from: 5, to: 33 },
      {
        when: 'a worker hangs every quarter of an hour',
        series: [restarts('0x4 1x14 2x14 3x14 4x14')],
        from: 5,
        to: 60,
      },
      {
        when: 'the workers end until the router starts again',
        series: [restarts('0x4 1 2 3 4 stale 0x20')],
        from: 5,
        to: 28,
      },
    ],
    at: 5,
    labels: { job: 'rpc/mainnet', instance: 'a:7779' },
    says: 'workers of a:7779 were replaced: 1 in half an hour',
  },
  RouterNoEndpointServing: {
    broken: [
      state('eligible', '1x4 0x20'),
      state('lagging', '0x30'),
      state('disabled', '0x4 1x20'),
    ],
    well: [state('eligible', '0x30'), state('lagging', '0x30'), state('lagging', '1x30', 'beta')],
    also: [
      {
        when: 'an epoch tries the upstreams again',
        series: [state('eligible', '0x8 1 0x8 1 0x8'), state('lagging', '0x30')],
        from: 2,
        to: 26,
      },
      {
        when: 'there was never one',
        series: [state('eligible', '0x30'), state('lagging', '0x30')],
        from: 1,
        to: 30,
      },
    ],
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
    also: [
      { when: 'every call fails', series: [calls('no-upstream', '0+100x30')], from: 6, to: 30 },
      {
        when: 'the first call of its outcome failed',
        series: [calls('success', '0+900x40'), calls('timeout', '_x9 100+100x30')],
        from: 17,
        to: 39,
      },
      {
        when: 'failures come in bursts',
        series: [
          calls('success', '0+100x60'),
          calls('timeout', '0+60x8 540x3 600+60x8 1140x3 1200+60x20'),
        ],
        from: 6,
        to: 50,
      },
    ],
    at: 6,
    labels: fleet,
    says: '10% of calls to ETH1 jsonrpc fail',
  },
  RouterMethodFails: {
    broken: [
      callsOf('eth_call', 'success', '0+900x60'),
      callsOf('eth_sendRawTransaction', 'success', '0+16x19 320x40'),
      callsOf('eth_sendRawTransaction', 'node-error', '0x19 0+40x40'),
      nodeErrors('eth_sendRawTransaction', '0x19 0+40x40'),
    ],
    // Reverts, an unlucky minute, a few calls, a method that always fails, and unknown methods.
    well: [
      callsOf('eth_call', 'success', '0+100x9 900x40'),
      callsOf('eth_call', 'node-error', '0x9 0+100x40'),
      nodeErrors('eth_call', '0x50'),
      callsOf('eth_chainId', 'success', '0+100x9 900x3 900+100x40'),
      callsOf('eth_chainId', 'node-error', '0x9 0+100x3 300x40'),
      nodeErrors('eth_chainId', '0x9 0+100x3 300x40'),
      callsOf('eth_gasPrice', 'success', '0+1x9 9x40'),
      callsOf('eth_gasPrice', 'node-error', '0x9 0+1x40'),
      nodeErrors('eth_gasPrice', '0x9 0+1x40'),
      callsOf('trace_block', 'success', '0+1x60'),
      callsOf('trace_block', 'node-error', '0+99x60'),
      nodeErrors('trace_block', '0+99x60'),
      callsOf('other', 'success', '0+100x9 900x40'),
      callsOf('other', 'node-error', '0x9 0+100x40'),
      nodeErrors('other', '0x9 0+100x40'),
    ],
    also: [
      {
        when: 'upstreams are blamed, and it lasts for hours',
        series: [
          callsOf('eth_call', 'success', '0+50x120 6000x300'),
          callsOf('eth_call', 'upstream-error', '0x120 0+50x300'),
          nodeErrors('eth_call', '0x120 0+50x300'),
        ],
        from: 130,
        to: 420,
      },
      {
        when: 'the first errors come after a restart',
        series: [
          callsOf('eth_call', 'success', '0+50x20 stale'),
          callsOf('eth_call', 'node-error', '_x22 10+50x30'),
          nodeErrors('eth_call', '_x22 10+50x30'),
        ],
        from: 28,
        to: 50,
      },
      {
        when: 'calls come in bursts',
        series: [
          callsOf('eth_call', 'success', '0+50x20 1000x60'),
          callsOf('eth_call', 'node-error', '0x20 0+50x8 400x4 450+50x8 800x4 850+50x20'),
          nodeErrors('eth_call', '0x20 0+50x8 400x4 450+50x8 800x4 850+50x20'),
        ],
        from: 30,
        to: 60,
      },
    ],
    at: 27,
    labels: { ...fleet, method: 'eth_sendRawTransaction' },
    says: '100% of calls of eth_sendRawTransaction to ETH1 jsonrpc get an error of the nodes',
  },
  RouterRefusalsBegan: {
    broken: [
      calls('success', '0+170x199 33830+143x60'),
      calls('refused', '0x199 0+27x60'),
      refusals('method-denied', '0x199 0+27x60'),
    ],
    // Few, a small share, a client that is always refused, a start, and a lack of a resource.
    well: [
      calls('success', '0+1000x500'),
      refusals('parse-error', '0x199 0+40x300'),
      refusals('bad-directive', '0+200x500'),
      refusals('overloaded', '0x199 0+200x300'),
      refusals('method-denied', '_x300 0+200x200'),
      refusals('parse-error', '0x199 0+9x300', 'NEAR'),
    ],
    also: [
      {
        when: 'every call is refused',
        series: [refusals('method-denied', '0x199 0+50x60')],
        from: 207,
        to: 250,
      },
      {
        when: 'the client pauses',
        series: [
          calls('success', '0+100x260'),
          refusals('method-denied', '0x199 0+50x8 400x4 450+50x8 800x4 850+50x20'),
        ],
        from: 208,
        to: 240,
      },
    ],
    at: 207,
    labels: { ...fleet, reason: 'method-denied' },
    says: '15.88% of requests to ETH1 jsonrpc are refused as method-denied, more than usual',
  },
  RouterRequestsRefused: {
    broken: [
      calls('success', '0+100x40'),
      calls('refused', '0+300x40'),
      refusals('invalid-params', '0+300x40'),
      refusals('parse-error', '0+100x40'),
    ],
    // Fewer than half, few, a flood that ends, and a router that lacks a resource.
    well: [
      calls('success', '0+500x40'),
      refusals('parse-error', '0+400x40'),
      refusals('parse-error', '0+90x40', 'NEAR'),
      refusals('parse-error', '0x4 400+400x4 2000x30', 'SOLANA'),
      refusals('overloaded', '0+900x40', 'BASE'),
    ],
    also: [
      {
        when: 'no request becomes a call',
        series: [refusals('parse-error', '0+200x40')],
        from: 13,
        to: 40,
      },
      {
        when: 'the client pauses',
        series: [
          calls('success', '0+100x40'),
          refusals('parse-error', '0+500x14 7000x4 7500+500x14 14500x4'),
        ],
        from: 12,
        to: 38,
      },
    ],
    at: 12,
    labels: fleet,
    says: '80% of requests to ETH1 jsonrpc are refused',
  },
  RouterLatencyHigh: {
    broken: [took('2', '0+900x30'), took('5', '0+1000x30'), took('+Inf', '0+1000x30')],
    well: [took('2', '0+995x30'), took('5', '0+1000x30'), took('+Inf', '0+1000x30')],
    also: [
      {
        when: 'every call is slow',
        series: [took('2', '0x30'), took('5', '0+100x30'), took('+Inf', '0+100x30')],
        from: 6,
        to: 30,
      },
      {
        when: 'the first call of its method was slow',
        series: ['0x30', '100+100x30', '100+100x30'].map((values, at) =>
          took(['2', '5', '+Inf'][at]!, `_x9 ${values}`),
        ),
        from: 16,
        to: 39,
      },
    ],
    at: 6,
    labels: fleet,
    says: '1 % of calls to ETH1 jsonrpc take 4.7s or longer',
  },
  RouterOnBackupTier: {
    broken: [onBackup('0x9 1x30')],
    well: [onBackup('0x9 1x1 0x30')],
    also: [
      {
        when: 'a primary returns for moments',
        series: [onBackup('1x4 0 1x4 0 1x4 0 1x4 0')],
        from: 1,
        to: 19,
      },
    ],
    at: 13,
    labels: listener,
    says: 'only the backup tier of ETH1 jsonrpc serves',
  },
  RouterUpstreamDisabled: {
    broken: [state('disabled', '1x30')],
    well: [state('disabled', '1x6 0x30')],
    also: [
      {
        when: 'each epoch tries it again',
        series: [state('disabled', '1x8 0x1 1x13 0x1 1x13 0x1 1x10')],
        from: 10,
        to: 50,
      },
      {
        when: 'its router is restarted',
        series: [state('disabled', '1x12 _x2 1x20')],
        from: 10,
        to: 34,
      },
    ],
    at: 10,
    labels: node,
    says: 'alpha of ETH1 jsonrpc keeps failing',
  },
  RouterUpstreamRejected: {
    broken: [state('rejected', '1x30')],
    well: [state('rejected', '0x30'), state('disabled', '1x30')],
    also: [
      {
        when: 'one of its backends serves another chain',
        series: [state('rejected', '0x3 1 0x8 1 0x8')],
        from: 5,
        to: 20,
      },
    ],
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
    also: [
      {
        when: 'it is the first event',
        series: [
          `router_cross_validation_finalized_mismatches_total${on({ ...fleet, upstream: 'alpha' })} 0x4 1x20`,
        ],
        from: 5,
        to: 13,
      },
    ],
    at: 5,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'alpha differs from others about a finalized block of ETH1 jsonrpc',
  },
  RouterLogsMismatch: {
    broken: [logs('wrong', '0x4 1x20')],
    // What happened before the router was scraped, and nodes that agree.
    well: [logs('wrong', '3x30'), logs('undecided', '0x30')],
    also: [
      { when: 'nothing decides', series: [logs('undecided', '0x4 1x20')], from: 5, to: 43 },
      { when: 'every query finds it', series: [logs('wrong', '0x4 0+5x30')], from: 6, to: 34 },
      {
        when: 'a sample finds it every half an hour',
        series: [logs('wrong', '0x4 1x29 2x29 3x20')],
        from: 5,
        to: 80,
      },
    ],
    at: 5,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'alpha of ETH1 jsonrpc returns wrong logs of final blocks',
  },
  RouterIntegrityViolation: {
    broken: [violations('block-hash', '0x4 1x20')],
    // Answers that may be right, and broken connections.
    well: [violations('parent', '0+5x30'), violations('envelope', '0+5x30')],
    also: [
      {
        when: 'events are rare',
        series: [violations('logs-range', '0x4 1x8 2x8 3x8')],
        from: 5,
        to: 30,
      },
    ],
    at: 5,
    labels: { ...fleet, upstream: 'alpha', check: 'block-hash' },
    says: 'alpha of ETH1 jsonrpc returns answers that do not match their requests',
  },
  RouterReorgDeep: {
    broken: [reorgs('7+', '0x4 1x20')],
    well: [reorgs('7+', '3x30'), reorgs('2-6', '0+1x30')],
    also: [{ when: 'it has happened before', series: [reorgs('7+', '2x4 3x20')], from: 5, to: 13 }],
    at: 5,
    labels: { job: 'rpc/mainnet', chain: 'ETH1' },
    says: 'seven or more blocks of ETH1 were replaced',
  },
  RouterReorgStorm: {
    broken: [reorgs('1', '0x29 0+1x40'), reorgs('2-6', '0x29 0+1x40')],
    // They are rare, or usual on this chain, which takes half an hour to know.
    well: [reorgs('1', '0x9 5x30'), reorgs('1', '_x9 0+1x60', 'BSC')],
    also: [
      {
        when: 'they come in bursts',
        series: [reorgs('1', '0x59 8x9 16x9 24x9 32x9')],
        from: 61,
        to: 99,
      },
    ],
    at: 34,
    labels: { job: 'rpc/mainnet', chain: 'ETH1' },
    says: 'ETH1 had 8 reorgs in ten minutes, most of those of this hour',
  },
  RouterUpstreamLagging: {
    broken: [state('lagging', '0x9 1x30')],
    well: [state('lagging', '1 0x2 1 0x2 1 0x2 1 0x2 1 0x20')],
    also: [
      {
        when: 'it catches up for moments',
        series: [state('lagging', '1x4 0 1x4 0 1x4 0 1x4 0 1x4')],
        from: 5,
        to: 28,
      },
    ],
    at: 20,
    labels: node,
    says: 'alpha of ETH1 jsonrpc is behind the chain',
  },
  RouterUpstreamInCooldown: {
    broken: [cooling('0x9 1x40')],
    well: [cooling('0x9 1x2 0x20 1x2 0x20')],
    also: [
      {
        when: 'cooldowns end and begin again',
        series: [cooling('1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0')],
        from: 5,
        to: 23,
      },
      { when: 'one of two URLs has used up its quota', series: [cooling('1x60')], from: 5, to: 60 },
    ],
    at: 18,
    labels: node,
    says: 'alpha of ETH1 jsonrpc limits our calls (rate or quota)',
  },
  RouterMethodLimited: {
    broken: [attempts('limit-of-method', '0x9 0+1x40')],
    // The whole upstream is limited, and one method once.
    well: [attempts('http-rate-limited', '0+1x40'), attempts('method-rate-limited', '0x4 1x40')],
    also: [
      {
        when: 'it is the first time',
        series: [attempts('method-rate-limited', '0x4 3x60')],
        from: 10,
        to: 60,
      },
    ],
    at: 18,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'alpha of ETH1 jsonrpc limits one of the methods',
  },
  RouterRedundancyLost: {
    broken: [...urls('1x40', '1x9 0x30'), cooling('0x40')],
    // A URL in cooldown, an upstream that is gone, and one that is dying.
    well: [
      ...urls('1x40', '0x40'),
      cooling('1x40'),
      ...urls('0x40', '0x40', 'beta'),
      ...urls('1x33 0x30', '1x33 0x30', 'gamma'),
    ],
    at: 20,
    labels: node,
    says: 'alpha of ETH1 jsonrpc serves through only some of its URLs',
    also: [
      {
        when: 'the URL answers now and then',
        series: [...urls('1x40', '0x3 1 0x3 1 0x3 1 0x3 1 0x3 1'), cooling('0x40')],
        from: 5,
        to: 24,
      },
    ],
  },
  RouterUpstreamUnreliable: {
    broken: [
      requests('answered', '0+900x30', 'alpha', '1'),
      requests('answered', '0+70x30'),
      requests('overtaken', '0+30x30'),
    ],
    // Two unlucky calls, together and apart, and a burst of failures, each among few calls.
    well: [
      requests('answered', '0+2x30'),
      requests('failed', '0x9 2x30'),
      requests('answered', '0+2x30', 'beta'),
      requests('failed', '0x6 1x4 2x30', 'beta'),
      requests('answered', '0+2x30', 'gamma'),
      requests('failed', '0x6 9x30', 'gamma'),
    ],
    also: [
      {
        when: 'every attempt fails',
        series: [requests('failed', '0+3x30')],
        from: 4,
        to: 30,
      },
      {
        when: 'half of three calls a minute hang',
        series: [
          requests('answered', '0+3x9 27 29 30 32 33 35 36 38 39'),
          requests('overtaken', '0x9 0 1 3 4 6 7 9 10 12'),
        ],
        from: 15,
        to: 18,
      },
      {
        when: 'it fails in bursts',
        series: [
          requests('answered', '0+30x60'),
          requests('failed', '0+30x8 270x3 300+30x8 570x3 600+30x20'),
        ],
        from: 4,
        to: 40,
      },
    ],
    at: 4,
    labels: { ...fleet, upstream: 'alpha', url: '2' },
    says: 'URL 2 of alpha of ETH1 jsonrpc fails or hangs in 30% of its requests',
  },
  RouterUpstreamFailsInPart: {
    broken: [requests('answered', '0+85x40'), requests('failed', '0+15x40')],
    // Few of many, many of few, a burst, lost races of a healthy node, and a dead one.
    well: [
      requests('answered', '0+96x60'),
      requests('failed', '0+4x60'),
      requests('answered', '0+6x60', 'beta'),
      requests('failed', '0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x9', 'beta'),
      requests('answered', '0+100x60', 'gamma'),
      requests('failed', '0x9 40 80 120 160x50', 'gamma'),
      requests('answered', '0+96x60', 'delta'),
      requests('overtaken', '0+4x60', 'delta'),
      requests('failed', '0+10x60', 'epsilon'),
    ],
    also: [
      {
        when: 'the node hangs in one method',
        series: [requests('answered', '0+92x40'), requests('overtaken', '0+8x40')],
        from: 17,
        to: 40,
      },
      {
        when: 'it fails in bursts',
        series: [
          requests('answered', '0+100x60'),
          requests('failed', '0+30x3 90x2 120+30x3 210x2 240+30x3 330x2 360+30x3 450x2 480+30x20'),
        ],
        from: 19,
        to: 45,
      },
    ],
    at: 16,
    labels: { ...fleet, upstream: 'alpha', url: '2' },
    says: 'URL 2 of alpha of ETH1 jsonrpc fails or hangs in 15% of its requests',
  },
  RouterOutOfResources: {
    broken: [`router_out_of_resources${on({ instance: 'a:7779', resource: 'files' })} 0x4 1x20`],
    well: [`router_out_of_resources${on({ instance: 'a:7779', resource: 'files' })} 0x4 1 0x20`],
    also: [
      {
        when: 'shortages come and go',
        series: [
          `router_out_of_resources${on({ instance: 'a:7779', resource: 'files' })} 1 0 1 0 1 0 1 0 1 0 1 0 1 0`,
        ],
        from: 1,
        to: 13,
      },
    ],
    at: 7,
    labels: { instance: 'a:7779', resource: 'files' },
    says: 'a:7779 has no files left',
  },
  RouterFilesNearLimit: {
    broken: [
      'router_process_open_fds{instance="a:7779"} 475x30',
      'router_process_max_fds{instance="a:7779"} 1000x30',
    ],
    well: [
      'router_process_open_fds{instance="a:7779"} 475x2 425x40',
      'router_process_max_fds{instance="a:7779"} 1000x40',
      // Of many files, clients leave 8,192.
      'router_process_open_fds{instance="b:7779"} 900000x40',
      'router_process_max_fds{instance="b:7779"} 1048576x40',
    ],
    also: [
      {
        when: 'the number wavers',
        series: [
          'router_process_open_fds{instance="a:7779"} 91800 90900 91900 90900 91800 90900 91900 90900 91800 90900 91900',
          'router_process_max_fds{instance="a:7779"} 108192x20',
        ],
        from: 5,
        to: 10,
      },
    ],
    at: 5,
    labels: { instance: 'a:7779' },
    says: 'a:7779 has opened 95% of the files that clients may take',
  },
  RouterEventLoopDelayed: {
    broken: ['router_process_event_loop_delay_seconds{instance="a:7779",quantile="0.99"} 0.25x30'],
    well: [
      'router_process_event_loop_delay_seconds{instance="a:7779",quantile="0.99"} 0.05x30',
      'router_process_event_loop_delay_seconds{instance="a:7779",quantile="1"} 2x30',
    ],
    also: [
      {
        when: 'each second scrape is fine',
        series: [
          'router_process_event_loop_delay_seconds{instance="a:7779",quantile="0.99"} 0.4 0.05 0.4 0.05 0.4 0.05 0.4 0.05 0.4 0.05 0.4 0.05',
        ],
        from: 5,
        to: 11,
      },
    ],
    at: 5,
    labels: { instance: 'a:7779' },
    says: 'the event loop of a:7779 is 250ms late',
  },
  RouterConfigRefused: {
    broken: ['router_config_last_reload_successful{instance="a:7779"} 1x3 0x30'],
    well: ['router_config_last_reload_successful{instance="a:7779"} 1x3 0x8 1x30'],
    also: [
      {
        when: 'a scrape fails',
        series: ['router_config_last_reload_successful{instance="a:7779"} 0x5 stale 0x20'],
        from: 10,
        to: 26,
      },
    ],
    at: 16,
    labels: { instance: 'a:7779' },
    says: 'a:7779 refuses its changed config and keeps the previous one',
  },
  RouterReplicasDiffer: {
    broken: [config('a:7779', 'ab12', '1x60'), config('b:7779', 'cd34', '1x60')],
    // A rollout takes ten minutes.
    well: [
      config('a:7779', 'ab12', '1x60'),
      config('b:7779', 'cd34', '1x9 stale'),
      config('b:7779', 'ab12', '_x10 1x50'),
    ],
    also: [
      {
        when: 'the replica that differs misses scrapes',
        series: [
          config('a:7779', 'ab12', '1x40'),
          config('b:7779', 'cd34', '1x8 stale 1x8 stale 1x20'),
        ],
        from: 15,
        to: 38,
      },
    ],
    at: 15,
    labels: { job: 'rpc/mainnet' },
    says: 'the replicas of rpc/mainnet use 2 different configs',
  },
  RouterSubscriptionStuck: {
    broken: [
      `router_subscription_fetch_failures_total${on({ ...listener, topic: 'newHeads' })} 0+6x40`,
    ],
    well: [
      `router_subscription_fetch_failures_total${on({ ...listener, topic: 'newHeads' })} 0+1x40`,
    ],
    also: [
      {
        when: 'failures come in bursts',
        series: [
          `router_subscription_fetch_failures_total${on({ ...listener, topic: 'newHeads' })} 0+20x4 100x3 120+20x4 220x3 240+20x4 340x3 360+20x4`,
        ],
        from: 14,
        to: 30,
      },
    ],
    at: 13,
    labels: { ...listener, topic: 'newHeads' },
    says: 'the next event of newHeads of ETH1 cannot be fetched',
  },
  RouterSubscriptionStalls: {
    broken: [moves('stalled', '0x9 1x4 2x40')],
    // One stall moves two topics. Connections end for other reasons.
    well: [
      moves('stalled', '0x9 1x60'),
      moves('stalled', '0x9 1x60', 'logs'),
      moves('other', '0+1x60'),
    ],
    also: [
      {
        when: 'it stalls at each replica once',
        series: [moves('stalled', '0x4 1x60'), moves('stalled', '0x6 1x60', 'newHeads', 'b:7779')],
        from: 7,
        to: 60,
      },
      {
        when: 'it stalls every quarter of an hour',
        series: [moves('stalled', '0x4 1x14 2x14 3x14 4x14')],
        from: 20,
        to: 64,
      },
    ],
    at: 15,
    labels: { ...fleet, upstream: 'alpha' },
    says: 'WebSockets of alpha of ETH1 jsonrpc stall',
  },
  RouterCacheStoreFails: {
    broken: [storeFailures('0+30x40')],
    well: [storeFailures('0+2x9 20x9 35x20')],
    also: [
      {
        when: 'it answers now and then',
        series: [storeFailures('0+30x4 120x3 150+30x4 270x3 300+30x4 420x3 450+30x9')],
        from: 6,
        to: 30,
      },
    ],
    at: 6,
    labels: { job: 'rpc/mainnet' },
    says: 'the shared cache of rpc/mainnet fails',
  },
  RouterStickySessionsFail: {
    broken: [claims('local_hit', '0+90x30'), claims('error', '0+10x30')],
    well: [
      claims('local_hit', '0+90x30'),
      claims('lost_race', '0+10x30'),
      claims('error', '0+1x30'),
    ],
    also: [{ when: 'every request fails', series: [claims('error', '0+10x30')], from: 6, to: 30 }],
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
    also: [
      {
        when: 'a replica restarts',
        series: [
          claims('claimed', '0+2x60 0+2x140'),
          claims('adopted', '0x200'),
          sessions('a:7779'),
          sessions('b:7779'),
        ],
        from: 26,
        to: 200,
      },
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
    also: [{ when: 'no replica was ever elected', series: [leads('a', '0x30')], from: 5, to: 30 }],
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
    also: [
      {
        when: 'errors come in bursts',
        series: [
          'rpc_operator_reconcile_total{controller="rpcrouter",result="error"} 0+9x2 27x6 36+9x2 54x6 63+9x2',
        ],
        from: 16,
        to: 26,
      },
    ],
    at: 13,
    labels: { controller: 'rpcrouter' },
    says: '20 reconciles of rpcrouter failed in ten minutes',
  },
  OperatorWatchSilent: {
    broken: ['rpc_operator_watch_silent_seconds{pod="a",instance="a:8080"} 0+60x20'],
    well: ['rpc_operator_watch_silent_seconds{pod="a",instance="a:8080"} 60x30'],
    also: [],
    at: 7,
    labels: { pod: 'a', instance: 'a:8080' },
    says: 'a watch of a:8080 received nothing for 7m 0s',
  },
  OperatorQueueStuck: {
    broken: ['rpc_operator_queue_longest_seconds{queue="rpcrouter"} 0+60x20'],
    well: ['rpc_operator_queue_longest_seconds{queue="rpcrouter"} 60x30'],
    also: [],
    at: 7,
    labels: { queue: 'rpcrouter' },
    says: 'one rpcrouter has been processed for 7m 0s',
  },
  RpcRouterNotReady: {
    broken: [`rpc_operator_router_ready${on(router)} 1x4 0x30`],
    well: [`rpc_operator_router_ready${on(router)} 1x9 0x7 1x30`],
    also: [
      {
        when: 'it is ready for moments',
        series: [`rpc_operator_router_ready${on(router)} 0x6 1 0x6 1 0x6 1 0x6`],
        from: 10,
        to: 27,
      },
    ],
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
    also: [],
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
    also: [],
    at: 10,
    labels: router,
    says: 'new pods of the RpcRouter rpc/mainnet cannot reach a chain that old ones serve',
  },
}
