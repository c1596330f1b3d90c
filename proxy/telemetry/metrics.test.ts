// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ConfigState } from './config-state.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasStalled } from '../subscription/subscriptions.ts'
import { type ErrorKind, RelayError, errorKinds } from '../relay/errors.ts'
import type { UpstreamState } from '../upstream/observer.ts'
import {
  aCall,
  aFailure,
  anAttempt,
  anUpstream,
  aPool,
  aRecord,
  repliedBy,
} from './call.fixture.ts'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { createCacheMetrics, createMetrics, type Metrics } from './metrics.ts'
import { readMetricsPage } from './metrics-page.fixture.ts'
import { series, type Series } from './series.ts'

const config = new ConfigState({ wallMs: () => 1_000 }, 'ab12')

const violation = { check: 'block-number', detail: '' }
const unsent = { isUnsent: true }
const on = 'chain="ETH1",interface="jsonrpc"'
const ofA = `${on},upstream="node-a",tier="primary"`

function make(): Metrics {
  const metrics = createMetrics({ version: '1.2.3', budget: new ByteBudget(1e9), config })
  metrics.registerSticky(['claimed'], () => 0)
  return metrics
}

async function samplesOf(metrics: Metrics): Promise<ReadonlyMap<string, number>> {
  return readMetricsPage((await metrics.page()).text).samples
}

async function valuesOf(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const samples = [...(await samplesOf(metrics))].filter(([id]) => id.replace(/\{.*/, '') === name)
  return Object.fromEntries(samples.map(([id, value]) => [id.slice(name.length), value]))
}

test('a fresh router shows its build and its process, and no series of traffic', async () => {
  const samples = await samplesOf(make())
  expect(samples.get(`router_build_info{version="1.2.3",runtime="${process.version}"}`)).toBe(1)
  expect(samples.get('router_process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(samples.get('router_process_cpu_seconds_total')).toBeGreaterThan(0)
  const start = samples.get('router_process_start_time_seconds') ?? 0
  expect(start).toBeGreaterThan(1_700_000_000)
  expect([...samples.keys()].filter((id) => id.includes('chain='))).toEqual([])
})

test('the active config, since when, and the results of its reloads', async () => {
  const state = new ConfigState({ wallMs: () => 7_000 }, 'ab12')
  const metrics = createMetrics({ version: '1', budget: new ByteBudget(1e9), config: state })
  const samples = async () => {
    const all = [...(await samplesOf(metrics))]
    return Object.fromEntries(all.filter(([id]) => id.startsWith('router_config_')))
  }
  state.refused({ why: '1 error, see the log', sha256: 'cd34', retries: false })
  const before = {
    'router_config_info{hash="ab12"}': 1,
    router_config_loaded_timestamp_seconds: 7,
    router_config_last_reload_successful: 0,
    'router_config_reloads_total{result="applied"}': 0,
    'router_config_reloads_total{result="refused"}': 1,
  }
  expect(await samples()).toEqual(before)
  state.applied('ab12')
  expect(await samples()).toEqual({
    ...before,
    router_config_last_reload_successful: 1,
    'router_config_reloads_total{result="applied"}': 1,
  })
})

test('calls are counted by how they ended', async () => {
  const metrics = make()
  const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
  const ended = (result: 'answer' | 'node-error' | ReturnType<typeof aFailure>) => {
    const call = aCall()
    anAttempt(call, 'node-b', aFailure('timeout'))
    anAttempt(call, 'node-a', result, { kind: 'retry' })
    const refusal = result === 'node-error' ? aFailure('execution-reverted') : null
    callEnded(call, repliedBy('node-a', refusal), 20)
  }
  ended('answer')
  ended('answer')
  ended('node-error')
  ended(aFailure('server-error'))
  callEnded(aCall(), { kind: 'error', error: new RelayError(errorKinds.timeout, 'late') }, 30_000)
  callEnded(aCall(), { kind: 'abandoned' }, 7)
  callEnded(aCall(), { kind: 'error', error: new RelayError(errorKinds.rateLimited, 'no') }, 1)
  callEnded(aCall(), repliedBy('cache'), 1)
  const at = (outcome: string) => `{${on},method="eth_call",outcome="${outcome}"}`
  expect(await valuesOf(metrics, 'router_requests_total')).toEqual({
    [at('success')]: 3,
    [at('node-error')]: 1,
    [at('upstream-error')]: 1,
    [at('rate-limited')]: 1,
    [at('timeout')]: 1,
    [at('abandoned')]: 1,
  })
  expect(await valuesOf(metrics, 'router_retries_total')).toEqual({
    [`{${on},method="eth_call"}`]: 4,
  })
  expect(await valuesOf(metrics, 'router_request_duration_seconds_count')).toEqual({
    [`{${on},method="eth_call"}`]: 7,
  })
})

test.each([
  ['a fault of the upstream', aFailure('server-error'), {}, 'server-error'],
  ['a limit', { ...aFailure('rate-limited'), weight: 0, cooldown: true }, {}, 'rate-limited'],
  ['a mismatch', { ...aFailure('doubted'), weight: 0 }, { violation }, 'doubted'],
  ['an error that other nodes may not return', { ...aFailure('pruned'), weight: 0 }, {}],
  ['a request that was never sent', { ...aFailure('exhausted'), weight: 0 }, unsent, 'aborted'],
] as const)(
  '%s in the counter of attempts',
  async (_, failure, more, result: string = 'node-error') => {
    const metrics = make()
    const call = aCall()
    const attempt = Object.assign(anAttempt(call, 'node-a', failure), more)
    metrics.relayObserver('ETH1', 'jsonrpc').attemptEnded(call, attempt)
    expect(await valuesOf(metrics, 'router_attempts_total')).toEqual({
      [`{${on},upstream="node-a",kind="first",result="${result}"}`]: 1,
    })
  },
)

test('refused requests count by reason, from zero, whether they became a call or not', async () => {
  const metrics = make()
  const listener = metrics.listenerObserver('ETH1', 'jsonrpc')
  const refusals = async () => {
    const values = Object.entries(await valuesOf(metrics, 'router_requests_refused_total'))
    return values.map(([id, value]) => [/reason="(.*?)"/.exec(id)?.[1], value] as const)
  }
  expect(await refusals()).toContainEqual(['request-too-large', 0])
  expect(await refusals()).not.toContainEqual(['timeout', 0])
  const end = (kind: ErrorKind, isCallersFault?: true) => {
    const error = new RelayError(kind, 'no', isCallersFault && { isCallersFault })
    listener.callEnded(aCall(), { kind: 'error', error }, 1)
  }
  listener.requestRefused(new RelayError(errorKinds.parse, 'not JSON'), 'guid-1', null)
  end(errorKinds.badDirective)
  end(errorKinds.noUpstream, true)
  end(errorKinds.noUpstream)
  expect((await refusals()).filter(([, value]) => value > 0)).toEqual([
    ['parse-error', 1],
    ['bad-directive', 1],
    ['no-upstream', 1],
  ])
  expect(await valuesOf(metrics, 'router_requests_total')).toEqual({
    [`{${on},method="eth_call",outcome="refused"}`]: 2,
    [`{${on},method="eth_call",outcome="no-upstream"}`]: 1,
  })
})

test('counters persist from scrape to scrape', async () => {
  const metrics = make()
  const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
  const id = `{${on},method="eth_call",outcome="success"}`
  for (let calls = 1; calls <= 3; calls += 1) {
    callEnded(aCall(), repliedBy('node-a'), 1)
    expect(await valuesOf(metrics, 'router_requests_total')).toEqual({ [id]: calls })
    expect(await valuesOf(metrics, 'router_requests_total')).toEqual({ [id]: calls })
  }
})

test('the histogram counts each duration in the right buckets', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { minLength: 1 }),
      async (all) => {
        const metrics = make()
        const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
        for (const durationMs of all) callEnded(aCall(), repliedBy('node-a'), durationMs)
        const name = 'router_request_duration_seconds'
        const buckets = await valuesOf(metrics, `${name}_bucket`)
        const bounds = [...series.requestDuration.buckets, Number.POSITIVE_INFINITY]
        expect(buckets).toEqual(
          Object.fromEntries(
            bounds.map((bound) => [
              `{${on},method="eth_call",le="${bound === Number.POSITIVE_INFINITY ? '+Inf' : bound}"}`,
              all.filter((durationMs) => durationMs / 1_000 <= bound).length,
            ]),
          ),
        )
        const [sum] = Object.values(await valuesOf(metrics, `${name}_sum`))
        expect(sum).toBeCloseTo(
          all.reduce((so, durationMs) => so + durationMs / 1_000, 0),
          6,
        )
      },
    ),
    { numRuns: 50 },
  )
})

test('attempts are counted by upstream, kind and result; aborted ones have no duration', async () => {
  const metrics = make()
  const { attemptEnded } = metrics.relayObserver('ETH1', 'jsonrpc')
  const call = aCall()
  attemptEnded(call, anAttempt(call, 'node-a', aFailure('rate-limited'), { tookMs: 3 }))
  attemptEnded(call, anAttempt(call, 'node-b', 'answer', { kind: 'retry', tookMs: 2_500 }))
  attemptEnded(call, anAttempt(call, 'node-c', 'aborted', { kind: 'hedge' }))
  const exhausted = anAttempt(call, 'node-d', { ...aFailure('exhausted'), weight: 0 })
  attemptEnded(call, Object.assign(exhausted, unsent))
  expect(await valuesOf(metrics, 'router_attempts_total')).toEqual({
    [`{${on},upstream="node-a",kind="first",result="rate-limited"}`]: 1,
    [`{${on},upstream="node-b",kind="retry",result="answer"}`]: 1,
    [`{${on},upstream="node-c",kind="hedge",result="aborted"}`]: 1,
    [`{${on},upstream="node-d",kind="first",result="aborted"}`]: 1,
  })
  expect(await valuesOf(metrics, 'router_upstream_url_requests_total')).toEqual({
    [`{${on},upstream="node-a",url="1",result="failed"}`]: 1,
    [`{${on},upstream="node-b",url="1",result="answered"}`]: 1,
  })
  const count = await valuesOf(metrics, 'router_attempt_duration_seconds_count')
  expect(count[`{${on},upstream="node-b"}`]).toBe(1)
  expect(count[`{${on},upstream="node-c"}`]).toBe(0)
  expect(count[`{${on},upstream="node-d"}`]).toBe(0)
  const buckets = await valuesOf(metrics, 'router_attempt_duration_seconds_bucket')
  expect(buckets[`{${on},upstream="node-b",le="2"}`]).toBe(0)
  expect(buckets[`{${on},upstream="node-b",le="5"}`]).toBe(1)
})

test('10,000 unknown method names make one series, and their text never appears', async () => {
  const metrics = make()
  const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
  const names = fc.sample(fc.string({ unit: 'binary', maxLength: 40 }), 9_998)
  for (const name of [...names, 'canary_method', '"} 1\nfake_total 9'])
    callEnded(aCall({ method: name, known: false }), repliedBy('node-a'), 1)
  const { text } = await metrics.page()
  expect(text).not.toMatch(/canary_method|fake_total/)
  expect(await valuesOf(metrics, 'router_requests_total')).toEqual({
    [`{${on},method="other",outcome="success"}`]: 10_000,
  })
})

test('the pool is mirrored at the time of the scrape, and unknown values are absent', async () => {
  const metrics = make()
  let pool = {
    tip: 100 as number | null,
    upstreams: [
      anUpstream('node-a', 'eligible', {
        sessions: 4,
        latestBlock: 98,
        lagBlocks: 2,
        lagSeconds: 24.5,
        urlsInCooldown: 2,
        verifications: ['chain-id'],
        urls: [1, 2, 3].map((position) => {
          return { position, url: '', why: position === 2 ? 'down' : null, since: null }
        }),
        learnedPerSecond: 40,
        learnedLogBlocks: 500,
        score: 0.75,
      }),
    ],
  }
  metrics.registerPool('ETH1', 'jsonrpc', () => aPool(pool.upstreams, { tip: pool.tip }))
  let samples = await samplesOf(metrics)
  expect(samples.get(`router_chain_tip_block{${on}}`)).toBe(100)
  expect(samples.get(`router_upstream_sessions{${ofA}}`)).toBe(4)
  expect(samples.get(`router_upstream_latest_block{${ofA}}`)).toBe(98)
  expect(samples.get(`router_upstream_lag_blocks{${ofA}}`)).toBe(2)
  expect(samples.get(`router_upstream_lag_seconds{${ofA}}`)).toBe(24.5)
  expect(samples.get(`router_upstream_urls_in_cooldown{${ofA}}`)).toBe(2)
  expect(samples.get(`router_upstream_url_serving{${ofA},url="1"}`)).toBe(1)
  expect(samples.get(`router_upstream_url_serving{${ofA},url="2"}`)).toBe(0)
  const one = `${on},upstream="node-a"`
  const failed = `router_upstream_url_requests_total{${one},url="3",result="failed"}`
  expect(samples.get(failed)).toBe(0)
  const never = `router_upstream_verification_failures_total{${one},verification="chain-id"}`
  expect(samples.get(never)).toBe(0)
  expect(samples.get(`router_upstream_score{${ofA}}`)).toBe(0.75)
  expect(samples.get(`router_upstream_learned_limit_per_second{${ofA}}`)).toBe(40)
  expect(samples.get(`router_upstream_learned_log_blocks{${ofA}}`)).toBe(500)
  expect(samples.get(`router_upstream_state{${ofA},state="eligible"}`)).toBe(1)
  pool = { tip: null, upstreams: [anUpstream('node-a', 'disabled')] }
  samples = await samplesOf(metrics)
  const states = Object.fromEntries(
    [...samples].filter(([id]) => id.startsWith('router_upstream_state{')),
  )
  expect(states).toEqual({
    [`router_upstream_state{${ofA},state="unverified"}`]: 0,
    [`router_upstream_state{${ofA},state="eligible"}`]: 0,
    [`router_upstream_state{${ofA},state="lagging"}`]: 0,
    [`router_upstream_state{${ofA},state="cooldown"}`]: 0,
    [`router_upstream_state{${ofA},state="disabled"}`]: 1,
    [`router_upstream_state{${ofA},state="rejected"}`]: 0,
  })
  const unknown = /^router_(chain_tip|upstream_(latest|lag|score|learned))/
  expect([...samples.keys()].filter((id) => unknown.test(id))).toEqual([])
})

test('events of upstreams, connections, refusals and the breaker', async () => {
  const metrics = make()
  const relay = metrics.relayObserver('ETH1', 'jsonrpc')
  const pool = metrics.poolObserver('ETH1', 'jsonrpc')
  const listener = metrics.listenerObserver('ETH1', 'jsonrpc')
  let samples = await samplesOf(metrics)
  expect(samples.get(`router_breaker_trips_total{${on}}`)).toBe(0)
  expect(samples.get(`router_client_connections{${on}}`)).toBe(0)
  expect(samples.get('router_reorgs_total{chain="ETH1",depth="7+"}')).toBe(0)

  relay.breakerChanged(true)
  pool.stateChanged('node-a', 'eligible', aRecord('disabled', '5 failures in a row'))
  pool.cooldownBegan('node-a', 'https://a.example', 30_000, 'rate limited')
  pool.cooldownBegan('node-a', 'https://b.example', 60_000, 'rate limited')
  pool.verificationFailed('node-a', 'https://a.example', 'chain-id', 'got 0x2')
  for (let sent = 0; sent < 3; sent++) pool.probeSent?.('node-a')
  for (const depth of [1, 2, 6, 7]) pool.reorged?.({ depth, block: 100, usualDepth: 1 })
  const subscriptions = metrics.subscriptionObserver('ETH1', 'jsonrpc')
  subscriptions.left?.('newHeads', 'node-a', hasStalled)
  subscriptions.left?.('newHeads', 'node-a', 'reset: the node closed the connection')
  listener.connectionsChanged(12)
  listener.requestRefused(new RelayError(errorKinds.parse, 'not JSON'), 'guid-1', null)
  samples = await samplesOf(metrics)
  expect(samples.get(`router_breaker_trips_total{${on}}`)).toBe(1)
  expect(samples.get(`router_client_connections{${on}}`)).toBe(12)
  expect(samples.get(`router_requests_refused_total{${on},reason="parse-error"}`)).toBe(1)
  const reorgs = ['1', '2-6', '7+'].map((depth) =>
    samples.get(`router_reorgs_total{chain="ETH1",depth="${depth}"}`),
  )
  expect(reorgs).toEqual([1, 2, 1])
  const nodeA = `${on},upstream="node-a"`
  expect(samples.get(`router_upstream_state_changes_total{${nodeA},to="disabled"}`)).toBe(1)
  expect(samples.get(`router_upstream_cooldowns_total{${nodeA}}`)).toBe(2)
  expect(samples.get(`router_upstream_probes_total{${nodeA}}`)).toBe(3)
  const moves = `router_subscription_moves_total{${nodeA},topic="newHeads"`
  expect(samples.get(`${moves},reason="stalled"}`)).toBe(1)
  expect(samples.get(`${moves},reason="other"}`)).toBe(1)
  const failures = `router_upstream_verification_failures_total{${nodeA},verification="chain-id"}`
  expect(samples.get(failures)).toBe(1)
})

test('the breaker gauge is 1 while calls fail without an available upstream, whichever call opened it', async () => {
  const metrics = make()
  let state: UpstreamState = 'eligible'
  const upstreams = () => [anUpstream('node-a', state), anUpstream('node-b', 'disabled')]
  metrics.registerPool('ETH1', 'jsonrpc', () => aPool(upstreams()))
  metrics.registerPool('BTC', 'jsonrpc', () => aPool([]))
  const [listener, other] = ['a', 'b'].map(() => metrics.relayObserver('ETH1', 'jsonrpc'))
  const open = async () => {
    const samples = await samplesOf(metrics)
    expect(samples.get('router_breaker_open{chain="BTC",interface="jsonrpc"}')).toBe(0)
    return samples.get(`router_breaker_open{${on}}`)
  }
  expect(await open()).toBe(0)
  state = 'disabled'
  expect(await open()).toBe(0)
  listener!.breakerChanged(true)
  expect(await open()).toBe(1)
  other!.breakerChanged(true)
  expect(await open()).toBe(1)
  // The upstream recovers, without any calls.
  state = 'lagging'
  expect(await open()).toBe(0)
  state = 'disabled'
  other!.breakerChanged(false)
  expect(await open()).toBe(1)
  listener!.breakerChanged(false)
  expect(await open()).toBe(0)
})

test('two listeners of one chain and interface add up', async () => {
  const metrics = make()
  for (const open of [3, 4]) {
    const listener = metrics.listenerObserver('ETH1', 'jsonrpc')
    listener.callEnded(aCall(), repliedBy('node-a'), 1)
    listener.connectionsChanged(9)
    listener.connectionsChanged(open)
  }
  const samples = await samplesOf(metrics)
  const method = `${on},method="eth_call"`
  expect(samples.get(`router_requests_total{${method},outcome="success"}`)).toBe(2)
  expect(samples.get(`router_request_duration_seconds_count{${method}}`)).toBe(2)
  expect(samples.get(`router_client_connections{${on}}`)).toBe(7)
})

test('two sets in one process count separately', async () => {
  const [one, other] = [make(), make()]
  one.listenerObserver('ETH1', 'jsonrpc').callEnded(aCall(), repliedBy('node-a'), 1)
  other.listenerObserver('ETH1', 'jsonrpc')
  expect(await valuesOf(other, 'router_requests_total')).toEqual({})
})

test('the pages have every series of the table, once, with its type and help', async () => {
  const { cacheServerCalls, workers: _, workerRestarts: __, ...ofRouter } = series
  const ofCache = createCacheMetrics('1.2.3', { bytes: 1, count: 2, evictions: 3 })
  const { types: own, samples } = readMetricsPage((await ofCache.page()).text)
  expect(own.get(cacheServerCalls.name)).toBe('counter')
  expect(samples.get('router_cache_bytes')).toBe(1)
  const { types, helps } = readMetricsPage((await make().page()).text)
  const all: readonly Series[] = Object.values(ofRouter)
  expect(Object.fromEntries(types)).toEqual(Object.fromEntries(all.map((s) => [s.name, s.type])))
  expect(Object.fromEntries(helps)).toEqual(Object.fromEntries(all.map((s) => [s.name, s.help])))
})

test.each(Object.values<Series>(series).map((one) => [one.name, one] as const))(
  '%s follows the naming conventions',
  (name, one) => {
    expect(name).toMatch(/^router(_[a-z]+)+$/)
    expect(name.endsWith('_total')).toBe(one.type === 'counter')
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|mb|percent|count|sum|bucket)$/)
    expect(one.help).toMatch(/^[A-Z0-9].*\.$/)
    expect(one.buckets !== undefined).toBe(one.type === 'histogram')
    if (one.type === 'histogram') expect(name).toMatch(/_seconds$/)
    const bounds = one.buckets ?? []
    expect(bounds.toSorted((a, b) => a - b)).toEqual(bounds)
  },
)

test('the time of store commands is counted by command and by outcome', async () => {
  const metrics = make()
  metrics.storeCommandEnded('get', 'timeout', 40)
  metrics.storeCommandEnded('get', 'success', 0.4)
  expect(await valuesOf(metrics, 'router_store_command_duration_seconds_bucket')).toMatchObject({
    '{command="get",outcome="timeout",le="0.025"}': 0,
    '{command="get",outcome="timeout",le="0.05"}': 1,
    '{command="get",outcome="success",le="0.0005"}': 1,
  })
})

test('events of known upstreams start at 0, so that the first one raises the counter', async () => {
  const metrics = make()
  const names = ['node-a']
  const pool = () => aPool(names.map((name) => anUpstream(name, 'eligible')))
  metrics.registerPool('ETH1', 'jsonrpc', pool)
  metrics.listenerObserver('ETH1', 'jsonrpc')
  const mismatches = () => valuesOf(metrics, 'router_cross_validation_finalized_mismatches_total')
  const [a, b] = [`{${on},upstream="node-a"}`, `{${on},upstream="node-b"}`]
  expect(await mismatches()).toEqual({ [a]: 0 })
  const observer = metrics.crossValidationObserver('ETH1', 'jsonrpc')
  observer.finalizedMismatch(aCall(), { upstream: 'node-a' } as never, null)
  // A reload adds an upstream.
  names.push('node-b')
  expect(await mismatches()).toEqual({ [a]: 1, [b]: 0 })
  const subscriptions = metrics.subscriptionObserver('ETH1', 'jsonrpc')
  subscriptions.clientsChanged?.('newHeads', 1)
  subscriptions.joined?.('newHeads', 'node-a')
  const samples = await samplesOf(metrics)
  for (const name of [
    `router_integrity_violations_total{${on},upstream="node-b",check="block-hash"}`,
    `router_logs_mismatches_total{${on},upstream="node-b",verdict="undecided"}`,
    `router_missing_block_answers_total${b}`,
    `router_upstream_cooldowns_total${b}`,
    `router_upstream_probes_total${b}`,
    `router_upstream_state_changes_total{${on},upstream="node-b",to="disabled"}`,
    `router_attempts_total{${on},upstream="node-b",kind="hedge",result="overtaken"}`,
    `router_attempts_total{${on},upstream="node-b",kind="retry",result="answer"}`,
    `router_attempts_total{${on},upstream="node-b",kind="first",result="method-rate-limited"}`,
    `router_attempts_total{${on},upstream="node-b",kind="first",result="limit-of-method"}`,
    `router_logs_requests_total{${on}}`,
    `router_logs_blocks_total{${on},source="cache"}`,
    `router_requests_refused_total{${on},reason="parse-error"}`,
    `router_breaker_open{${on}}`,
    `router_subscription_fetch_failures_total{${on},topic="newHeads"}`,
    `router_subscription_topics_ended_total{${on},topic="newHeads"}`,
    `router_subscription_moves_total{${on},upstream="node-a",topic="newHeads",reason="stalled"}`,
  ])
    expect([name, samples.get(name)]).toEqual([name, 0])
})

test('OpenMetrics has the same samples, and names the trace of a traced call in its bucket', async () => {
  const metrics = make()
  const { callEnded } = metrics.listenerObserver('ETH1', 'jsonrpc')
  const traced = aCall()
  traced.journal.traceId = '0af7651916cd43dd8448eb211c80319c'
  callEnded(traced, repliedBy('node-a'), 20)
  callEnded(aCall(), repliedBy('node-a'), 200)
  const plain = await metrics.page()
  expect(plain.type).toBe('text/plain; version=0.0.4; charset=utf-8')
  const { type, text } = await metrics.page('application/openmetrics-text;version=1.0.0,*/*;q=0.1')
  expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(text).toMatch(/\n# EOF\n$/)
  expect(text).toContain('\n# TYPE router_requests counter\n')
  const exemplars = [...text.matchAll(/^(.*) # (.*) \d+\.\d+$/gm)].map(([, ...of]) => of)
  const bucket = `router_request_duration_seconds_bucket{${on},method="eth_call",le="0.025"}`
  const trace = '{trace_id="0af7651916cd43dd8448eb211c80319c"} 0.02'
  expect(exemplars).toEqual([[`${bucket} 1`, trace]])
  const ids = (page: string) =>
    page
      .replaceAll(/ # \{.*/g, '')
      .split('\n')
      .flatMap((line) => /^\w\S*/.exec(line) ?? [])
  expect(ids(text)).toEqual(ids(plain.text))
})

test('violations are counted by check, and null for blocks that exist', async () => {
  const metrics = make()
  const { attemptEnded } = metrics.relayObserver('ETH1', 'jsonrpc')
  const call = aCall()
  const violation = { check: 'logs-range', detail: 'log 0: 1 is outside the filter' } as const
  const violate = () => anAttempt(call, 'node-a', aFailure('integrity-violated'), { violation })
  attemptEnded(call, violate())
  attemptEnded(call, violate())
  attemptEnded(call, anAttempt(call, 'node-b', 'answer', { missedBlock: true }))
  expect(await valuesOf(metrics, 'router_integrity_violations_total')).toEqual({
    [`{${on},upstream="node-a",check="logs-range"}`]: 2,
  })
  expect(await valuesOf(metrics, 'router_missing_block_answers_total')).toEqual({
    [`{${on},upstream="node-b"}`]: 1,
  })
})

test('the backup tier serves once no primary takes calls', async () => {
  const metrics = make()
  let state: UpstreamState = 'eligible'
  const pool = () =>
    aPool([anUpstream('node-a', state), anUpstream('node-b', 'eligible', { tier: 'backup' })])
  metrics.registerPool('ETH1', 'jsonrpc', pool)
  const read = async () => (await samplesOf(metrics)).get(`router_backup_tier_serving{${on}}`)
  expect(await read()).toBe(0)
  state = 'disabled'
  expect(await read()).toBe(1)
})
