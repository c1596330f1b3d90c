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
import { KeptCalls } from '../telemetry/explain/kept-calls.ts'
import { Health } from '../telemetry/health.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { combineObservers } from '../telemetry/observers.ts'
import { createFacts } from './facts.ts'

function make() {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const metrics = createMetrics({ version: '1.2.3', budget: new ByteBudget(1e9), config })
  const health = new Health(clock, config)
  const { poolObserver } = health
  const calls = new KeptCalls(clock)
  const observers = combineObservers([metrics, calls, { poolObserver }])
  let pool = aPool([anUpstream('node-a', 'eligible'), anUpstream('node-b', 'eligible')])
  const snapshot = () => pool
  for (const chain of ['ETH1', 'BTC']) {
    metrics.registerPool(chain, 'jsonrpc', snapshot)
    health.register(`${chain} jsonrpc`, snapshot)
  }
  const read = createFacts({
    ...{ metrics, health, calls, config, clock, epochDurationMs: 900_000 },
    addresses: (chain) => (chain === 'ETH1' ? ['127.0.0.1:3360'] : []),
  })
  return { clock, config, observers, health, read, become: (next: typeof pool) => (pool = next) }
}

test('calls and attempts are counted by chain and upstream, over all methods', async () => {
  const { observers, read } = make()
  const { callEnded } = observers.listenerObserver('ETH1', 'jsonrpc')
  const { attemptEnded } = observers.relayObserver('ETH1', 'jsonrpc')
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
    'ETH1 jsonrpc outcomes': { success: 2, timeout: 1 },
    'ETH1 jsonrpc cache': { miss: 2 },
    'ETH1 jsonrpc durations': { 0.005: 0, 1: 0, 2: 2, 30: 2, '+Inf': 3 },
    'ETH1 jsonrpc node-a attempts': { 'hedge answer': 2 },
    'ETH1 jsonrpc node-a durations': { 0.01: 0, 0.025: 2, '+Inf': 2 },
    'ETH1 jsonrpc node-b attempts': { 'first attempt-timeout': 2, 'first mismatch': 1 },
    'ETH1 jsonrpc node-b disputes': { 'block-number': 1 },
  })
  expect(Object.keys(counts['ETH1 jsonrpc durations'] ?? {})).toHaveLength(15)
  expect(Object.keys(counts).filter((table) => table.startsWith('BTC'))).toEqual([])
  expect(failed).toMatchObject([{ chain: 'ETH1', outcome: 'timeout', why: 'late' }])
})

test('an upstream says its state, why, since and until when, and what is known of it', async () => {
  const { clock, observers, read, become } = make()
  const { stateChanged, cooldownBegan } = observers.poolObserver('ETH1', 'jsonrpc')
  stateChanged('node-a', 'eligible', 'disabled', 'connection-refused')
  cooldownBegan('node-b', 'https://b.example', 30_000, 'rate limited')
  const since = new Date(clock.wallMs()).toISOString()
  await clock.advance(10_000)
  const held = { cooldownLeftMs: 20_000, lagBlocks: 3, lagSeconds: 36 }
  become(
    aPool([anUpstream('node-a', 'disabled'), anUpstream('node-b', 'held-off', held)], {
      ...{ tip: 100, tipAgeMs: 4_000 },
    }),
  )
  const epochMs = Math.ceil(clock.wallMs() / 900_000) * 900_000
  const [eth] = (await read()).chains
  expect(eth).toMatchObject({
    ...{ tip: 100, tipAgeMs: 4_000 },
    upstreams: [
      {
        ...{ state: 'disabled', why: 'connection-refused', since },
        until: new Date(epochMs).toISOString(),
      },
      {
        ...{ state: 'held-off', since, why: expect.stringContaining('https://b.example') },
        until: new Date(clock.wallMs() + 20_000).toISOString(),
        ...{ cooldownLeftMs: 20_000, lagBlocks: 3, lagSeconds: 36 },
      },
    ],
  })
})

test('of one that failed its verification it says what was found, and of its faults which', async () => {
  const { observers, read, become } = make()
  const { stateChanged } = observers.poolObserver('ETH1', 'jsonrpc')
  stateChanged('node-a', 'unverified', 'rejected', 'chain-id')
  const trouble = 'https://a.example is not used: chain-id: wanted 0x1, the node says 0x5'
  const fault = 'all 8 sessions are taken (max-sessions-per-provider) since 13:15:07'
  become(
    aPool([
      anUpstream('node-a', 'rejected', { trouble }),
      anUpstream('node-b', 'eligible', { fault }),
    ]),
  )
  expect((await read()).chains[0]?.upstreams).toMatchObject([
    { state: 'rejected', why: trouble, until: null, fault: null },
    { state: 'eligible', why: null, until: null, fault },
  ])
})

test('a store that fails is said, by its kind and address', async () => {
  const { health, read } = make()
  const trouble = { name: '127.0.0.1:6379 (resp-cache)', why: 'no answer', since: 'now' }
  health.stores.set('sessions', trouble)
  expect((await read()).stores).toEqual([trouble])
})

test('a config that was refused is said, and when the process was started', async () => {
  const { clock, config, read } = make()
  config.refused({ why: '2 errors, see the log', sha256: 'cd34', retries: false })
  await clock.advance(500)
  const { refused, at, started } = await read()
  expect(refused).toBe('2 errors, see the log')
  expect(Date.parse(at) - Date.parse(started)).toBe(500)
})
