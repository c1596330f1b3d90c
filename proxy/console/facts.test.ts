// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import {
  aCall,
  aFailure,
  anAttempt,
  anUpstream,
  aPool,
  repliedBy,
} from '../telemetry/call.fixture.ts'
import { ConfigState } from '../telemetry/config-state.ts'
import { CallHistory } from '../telemetry/explain/call-history.ts'
import { Health } from '../telemetry/health.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { RecentCounts } from '../telemetry/recent-counts.ts'
import { combineObservers } from '../telemetry/observers.ts'
import { noTroubles } from './facts.fixture.ts'
import { createFacts } from './facts.ts'

function make() {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const budget = new ByteBudget(1e9)
  const metrics = createMetrics({ version: '1.2.3', budget, config })
  const health = new Health(clock, config)
  const calls = new CallHistory(clock)
  const observers = combineObservers([metrics, calls])
  const pool = aPool([anUpstream('node-a', 'eligible'), anUpstream('node-b', 'eligible')])
  const snapshot = () => pool
  for (const chain of ['ETH1', 'BTC']) {
    metrics.registerPool(chain, 'jsonrpc', snapshot)
    health.register(`${chain} jsonrpc`, snapshot)
  }
  const counts = new RecentCounts(metrics, clock)
  counts.start()
  const read = createFacts({
    ...{ counts, health, troubles: { since: {}, methods: {} }, callTroubles: noTroubles },
    ...{ calls, config, clock },
    addresses: (chain) => (chain === 'ETH1' ? ['127.0.0.1:3360'] : []),
  })
  return { clock, config, budget, observers, health, read }
}

test('calls and attempts are counted by chain and upstream, over all methods', async () => {
  const { budget, observers, read } = make()
  budget.cutOffs = 2
  const { callEnded } = observers.listenerObserver('ETH1', 'jsonrpc')
  const { attemptEnded, logsMismatched } = observers.relayObserver('ETH1', 'jsonrpc')
  logsMismatched?.(aCall(), ['node-a', 'node-b'], 'undecided')
  for (const method of ['eth_call', 'eth_getLogs']) {
    const call = aCall({ method })
    call.journal.cache = { verdict: 'miss', ageClass: 'none', why: null }
    const late = anAttempt(call, 'node-b', aFailure('attempt-timeout'), { tookMs: 1_000 })
    const won = anAttempt(call, 'node-a', 'answer', { kind: 'hedge', tookMs: 20 })
    for (const attempt of [late, won]) attemptEnded(call, attempt)
    callEnded(call, repliedBy('node-a'), 1_020)
  }
  const wrong = aCall()
  const violation = { check: 'block-number', detail: 'another' } as const
  attemptEnded(wrong, anAttempt(wrong, 'node-b', aFailure('mismatch'), { violation }))
  callEnded(wrong, { kind: 'error', error: new RelayError(errorKinds.timeout, 'late') }, 40_000)

  const { chains, counts, failed } = await read()
  const [eth] = chains
  expect(eth).toMatchObject({
    ...{ name: 'ETH1 jsonrpc', addresses: ['127.0.0.1:3360'], blockTimeMs: 12_000 },
    upstreams: [{ name: 'node-a' }, { name: 'node-b' }],
  })
  expect(counts).toMatchObject({
    'cut-offs': { clients: 2 },
    'ETH1 jsonrpc outcomes': { success: 2, timeout: 1 },
    'ETH1 jsonrpc cache': { miss: 2 },
    'ETH1 jsonrpc durations': { 0.005: 0, 1: 0, 2: 2, 30: 2, '+Inf': 3 },
    'ETH1 jsonrpc node-a attempts': { 'hedge answer': 2 },
    'ETH1 jsonrpc node-a durations': { 0.01: 0, 0.025: 2, '+Inf': 2 },
    'ETH1 jsonrpc node-b attempts': { 'first attempt-timeout': 2, 'first mismatch': 1 },
    'ETH1 jsonrpc node-b disputes': { 'block-number': 1, 'logs undecided': 1 },
  })
  expect(Object.keys(counts['ETH1 jsonrpc durations'] ?? {})).toHaveLength(15)
  const ofBtc = Object.entries(counts).filter(([table]) => table.startsWith('BTC'))
  expect(ofBtc.flatMap(([, own]) => Object.values(own)).filter((count) => count > 0)).toEqual([])
  expect(failed).toMatchObject([{ chain: 'ETH1', outcome: 'timeout', why: 'late' }])
})

test('a failing store is reported, by kind and address', async () => {
  const { health, read } = make()
  const store = { name: '127.0.0.1:6379 (resp-cache)', feature: 'sessions' } as const
  const trouble = { ...store, why: 'no answer', since: 'now' }
  health.stores.set('sessions', trouble)
  expect((await read()).stores).toEqual([trouble])
})

test('a refused config is reported, and the start time of the process', async () => {
  const { clock, config, read } = make()
  config.refused({ why: '2 errors, see the log', sha256: 'cd34', retries: false })
  await clock.advance(500)
  const { at, started, config: active } = await read()
  expect(active).toMatchObject({ sha256: 'ab12', refused: { why: '2 errors, see the log' } })
  expect(Date.parse(at) - Date.parse(started)).toBe(500)
})

test('the last minute counts apart from the time since the start', async () => {
  const { clock, observers, read } = make()
  const { attemptEnded } = observers.relayObserver('ETH1', 'jsonrpc')
  const fail = (count: number) => {
    for (let each = 0; each < count; each++) {
      const call = aCall()
      attemptEnded(call, anAttempt(call, 'node-a', aFailure('attempt-timeout')))
    }
  }
  const table = 'ETH1 jsonrpc node-a attempts'
  const word = 'first attempt-timeout'
  fail(5)
  let facts = await read()
  expect(facts.minute.counts[table]).toMatchObject({ [word]: 5 })
  await clock.advance(60_000)
  fail(2)
  facts = await read()
  expect(facts.counts[table]).toMatchObject({ [word]: 7 })
  expect(facts.minute).toMatchObject({ seconds: 50, counts: { [table]: { [word]: 2 } } })
  // These are few attempts, so earlier ones count too.
  expect(facts.recent[table]).toMatchObject({ [word]: 7 })
  await clock.advance(60_000)
  expect((await read()).minute.counts).toEqual({})
})
