// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { aCall, aFailure, anAttempt, anUpstream, aPool, repliedBy } from './call.fixture.ts'
import { ConfigState } from './config-state.ts'
import { createFacts } from './facts.ts'
import { Health } from './health.ts'
import { createMetrics } from './metrics.ts'
import { combineObservers } from './observers.ts'

function make() {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const metrics = createMetrics({ version: '1.2.3', budget: new ByteBudget(1e9), config })
  const health = new Health(clock, config)
  const { poolObserver } = health
  const observers = combineObservers([metrics, { poolObserver }])
  let pool = aPool([anUpstream('node-a', 'eligible'), anUpstream('node-b', 'eligible')])
  const snapshot = () => pool
  for (const chain of ['ETH1', 'BTC']) {
    metrics.registerPool(chain, 'jsonrpc', snapshot)
    health.register(`${chain} jsonrpc`, snapshot)
  }
  const read = createFacts({
    ...{ metrics, health, config, clock, version: '1.2.3', epochDurationMs: 900_000 },
    addresses: (chain) => (chain === 'ETH1' ? ['127.0.0.1:3360'] : []),
  })
  return { clock, config, observers, read, become: (next: typeof pool) => (pool = next) }
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

  const { chains, ...facts } = await read()
  expect(facts).toMatchObject({ version: '1.2.3', config: { sha256: 'ab12', refused: null } })
  const [eth, btc] = chains
  expect(eth).toMatchObject({
    ...{ name: 'ETH1 jsonrpc', addresses: ['127.0.0.1:3360'], blockSeconds: 12 },
    counts: {
      ...{ outcomes: { success: 2, timeout: 1 }, cache: { miss: 2 } },
      durations: { 0.005: 0, 1: 0, 2: 2, 30: 2, '+Inf': 3 },
    },
    upstreams: [
      {
        name: 'node-a',
        counts: {
          attempts: { 'hedge answer': 2 },
          durations: { 0.01: 0, 0.025: 2, '+Inf': 2 },
        },
      },
      {
        name: 'node-b',
        counts: {
          attempts: { 'first attempt-timeout': 2, 'first mismatch': 1 },
          violations: { 'block-number': 1 },
        },
      },
    ],
  })
  expect(Object.keys(eth?.counts['durations'] ?? {})).toHaveLength(15)
  expect(btc).toMatchObject({ name: 'BTC jsonrpc', counts: {}, upstreams: [{ counts: {} }, {}] })
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
    ...{ tip: 100, tipAgeSeconds: 4 },
    upstreams: [
      {
        ...{ state: 'disabled', why: 'connection-refused', since },
        until: new Date(epochMs).toISOString(),
      },
      {
        ...{ state: 'held-off', since, why: expect.stringContaining('https://b.example') },
        until: new Date(clock.wallMs() + 20_000).toISOString(),
        ...{ cooldownSeconds: 20, lagBlocks: 3, lagSeconds: 36 },
      },
    ],
  })
})

test('who asks again at once gets the same: facts are gathered twice a second at most', async () => {
  const { clock, config, read } = make()
  const first = read()
  config.refused('2 errors, see the log')
  await clock.advance(499)
  expect(read()).toBe(first)
  await clock.advance(1)
  const { config: served, at, started } = await read()
  expect(served.refused?.why).toBe('2 errors, see the log')
  expect(Date.parse(at) - Date.parse(started)).toBe(500)
})
