// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { UpstreamState } from '../upstream/observer.ts'
import type { PoolSnapshot } from '../upstream/observer.ts'
import { anUpstream, aPool, aRecord } from './call.fixture.ts'
import { ConfigState } from './config-state.ts'
import { Health } from './health.ts'

function pool(...states: UpstreamState[]): PoolSnapshot {
  const upstreams = states.map((state, at) => anUpstream(`node-${at}`, state))
  return aPool(upstreams)
}

/** Listeners with these upstream states; only those in `answered` have had a serving upstream. */
async function healthOf(answered: UpstreamState[], never: UpstreamState[], isGraceOver: boolean) {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  let isBefore = true
  for (const [at, state] of answered.entries())
    health.register(`UP${at} jsonrpc`, () => pool(isBefore ? 'eligible' : state))
  for (const [at, state] of never.entries()) health.register(`DARK${at} jsonrpc`, () => pool(state))
  health.readiness()
  isBefore = false
  if (isGraceOver) await clock.advance(90_000)
  return health
}

const rules: {
  name: string
  answered: UpstreamState[]
  never: UpstreamState[]
  graceOver?: true
  draining?: true
  ready: number
  overall: number
}[] = [
  { name: 'nothing answered yet', answered: [], never: ['unverified'], ready: 503, overall: 503 },
  {
    name: 'nothing answered, grace over',
    answered: [],
    never: ['unverified'],
    graceOver: true,
    ready: 503,
    overall: 503,
  },
  { name: 'all answered', answered: ['eligible', 'eligible'], never: [], ready: 200, overall: 200 },
  { name: 'a lagging upstream serves', answered: ['lagging'], never: [], ready: 200, overall: 200 },
  {
    name: 'one listener dark, others wait for it',
    answered: ['eligible'],
    never: ['unverified'],
    ready: 503,
    overall: 503,
  },
  {
    name: 'one listener dark, grace over',
    answered: ['eligible'],
    never: ['rejected'],
    graceOver: true,
    ready: 200,
    overall: 200,
  },
  {
    name: 'all upstreams failed later: ready, to answer clients, but not healthy',
    answered: ['disabled', 'disabled'],
    never: [],
    graceOver: true,
    ready: 200,
    overall: 503,
  },
  {
    name: 'one of two listeners failed later',
    answered: ['disabled', 'eligible'],
    never: [],
    ready: 200,
    overall: 200,
  },
  {
    name: 'draining',
    answered: ['eligible'],
    never: [],
    draining: true,
    ready: 503,
    overall: 503,
  },
]
test.each(rules)('$name', async ({ answered, never, graceOver, draining, ready, overall }) => {
  const health = await healthOf(answered, never, graceOver ?? false)
  if (draining) health.drain()
  expect(health.readiness().status).toBe(ready)
  expect(health.overall()).toEqual(
    overall === 200
      ? { status: 200, body: 'Health status OK' }
      : { status: 503, body: 'Unhealthy' },
  )
})

test('the body says which listener is dark, and why', async () => {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  health.register('ETH1 jsonrpc', () => pool('eligible', 'lagging', 'disabled'))
  health.register('BTC jsonrpc', () => pool('unverified', 'rejected'))
  expect(health.readiness().body).toBe(
    [
      'not ready: no upstream answered yet on 1 of 2 listeners',
      'ETH1 jsonrpc: 2 of 3 upstreams serving; node-1 lagging; node-2 disabled',
      'BTC jsonrpc: dark, 0 of 2 upstreams serving; node-0 unverified; node-1 rejected',
      '',
    ].join('\n'),
  )
  await clock.advance(90_000)
  expect(health.readiness().body).toMatch(/^ready\nETH1 .*\nBTC jsonrpc: dark/)
  health.drain()
  expect(health.readiness().body).toMatch(/^not ready: draining\nETH1 /)
})

test('from start to stop: dark, one up, grace over, all down, draining', async () => {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  const pools = { eth: pool('unverified'), btc: pool('unverified') }
  health.register('ETH1 jsonrpc', () => pools.eth)
  health.register('BTC jsonrpc', () => pools.btc)
  const statuses = () => [health.readiness().status, health.overall().status]
  expect(statuses()).toEqual([503, 503])
  pools.eth = pool('eligible')
  expect(statuses()).toEqual([503, 503])
  await clock.advance(89_999)
  expect(statuses()).toEqual([503, 503])
  await clock.advance(1)
  expect(statuses()).toEqual([200, 200])
  pools.eth = pool('disabled')
  expect(statuses()).toEqual([200, 503])
  pools.btc = pool('eligible')
  expect(statuses()).toEqual([200, 200])
  health.drain()
  expect(statuses()).toEqual([503, 503])
})

test('ready without delay once every listener has had an answer, at any time', () => {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  const pools = { eth: pool('eligible'), btc: pool('unverified') }
  health.register('ETH1 jsonrpc', () => pools.eth)
  health.register('BTC jsonrpc', () => pools.btc)
  expect(health.readiness().status).toBe(503)
  pools.eth = pool('disabled')
  pools.btc = pool('eligible')
  expect(health.readiness().status).toBe(200)
})

const calm = { isOnBackup: false, reorgs: null }
test('the status has each listener, and the state of each upstream, since when and why', async () => {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const health = new Health(clock, config)
  const at = () => new Date(clock.wallMs()).toISOString()
  const started = at()
  const lagging = aRecord('lagging', '7 blocks behind the tip')
  const eth = [anUpstream('node-a', 'eligible'), anUpstream('node-b', 'lagging', lagging)]
  health.register('ETH1 jsonrpc', () => aPool(eth, { tip: 100 }))
  const upstream = {
    chain: 'ETH1',
    interface: 'jsonrpc',
    tier: 'primary',
    lagBlocks: null,
    tip: 100,
    ...{ urls: [], methodLimits: [], lastMinute: { attempts: 0, failed: 0, overtaken: 0 } },
  }
  const { until: _, ...shown } = lagging
  await clock.advance(60_000)
  config.applied('cd34')
  const none = { perMinute: 0, clients: [] }
  expect(JSON.parse(await health.status())).toEqual({
    at: at(),
    config: { sha256: 'cd34', since: at(), refused: null },
    listeners: [
      {
        chain: 'ETH1',
        interface: 'jsonrpc',
        serving: 2,
        total: 2,
        darkSince: null,
        why: null,
        ...calm,
      },
    ],
    upstreams: [
      { ...upstream, name: 'node-a', state: 'eligible', since: started, why: null },
      { ...upstream, name: 'node-b', ...shown },
    ],
    ...{ stores: [], shortages: [] },
    clients: { calls: none, errors: none, refusals: none },
  })
})

test('status and verbose readiness say since when a listener is dark, why, and which store fails', async () => {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  const since = (minute: number) => `2026-01-31T03:0${minute}:00.000Z`
  const refused = (minute: number, why: string | null) => {
    return { ...aRecord('rejected', why), since: since(minute) }
  }
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const reasons = ['http-unauthorized (HTTP 401)', null, 'x'.repeat(900), 'd', 'e', 'f']
  const lost = names.map((name, at) => {
    return anUpstream(name, 'rejected', refused(at, reasons[at] ?? null))
  })
  health.register('ETH1 jsonrpc', () => aPool(lost))
  health.register('BTC jsonrpc', () => aPool([...lost.slice(0, 1), anUpstream('g', 'eligible')]))
  const store = {
    name: '10.0.0.7:6379 (resp-cache)',
    feature: 'sessions',
    since: since(9),
  } as const
  health.stores.set('sessions', { ...store, why: 'it refuses the password' })
  const { listeners, stores } = JSON.parse(await health.status())
  expect(listeners).toEqual([
    {
      ...{ chain: 'ETH1', interface: 'jsonrpc', serving: 0, total: 6, darkSince: since(5) },
      ...calm,
      why: `a: http-unauthorized (HTTP 401); b: rejected; c: ${'x'.repeat(200)}; d: d; and 2 more`,
    },
    {
      ...{ chain: 'BTC', interface: 'jsonrpc', serving: 1, total: 2, darkSince: null },
      ...calm,
      why: 'a: http-unauthorized (HTTP 401)',
    },
  ])
  expect(stores).toEqual([{ ...store, why: 'it refuses the password' }])
  const lines = health.readiness(true).body.split('\n')
  expect(lines[1]).toMatch(/^ETH1 jsonrpc: dark since 2026-01-31T03:05:00.000Z, 0 of 6 upstreams/)
  expect(lines[2]).toMatch(/^BTC jsonrpc: 1 of 2 upstreams serving; a rejected/)
  expect(lines.at(-3)).toBe(
    `store ${store.name} fails since ${store.since}: it refuses the password`,
  )
})

test('verbose readiness and the status say why a newer config is not active, until one is', async () => {
  const clock = new VirtualClock()
  const config = new ConfigState(clock, 'ab12')
  const health = new Health(clock, config)
  const at = new Date(clock.wallMs()).toISOString()
  const lineOf = () => health.readiness(true).body.split('\n').at(-2)
  expect(health.readiness().body).not.toContain('ab12')
  expect(lineOf()).toBe(`config ab12 since ${at}`)
  config.refused({ why: '2 errors, see the log', sha256: 'cd34', retries: false })
  expect(lineOf()).toBe(`config ab12 since ${at}; refused at ${at}: 2 errors, see the log`)
  expect(JSON.parse(await health.status())).toMatchObject({
    config: {
      sha256: 'ab12',
      refused: { why: '2 errors, see the log', sha256: 'cd34', retries: false, at },
    },
  })
  config.applied('cd34')
  expect(lineOf()).toBe(`config cd34 since ${at}`)
})

test('a listener that served before anybody looked is ready through an outage', () => {
  const clock = new VirtualClock()
  const health = new Health(clock, new ConfigState(clock, 'ab12'))
  health.register('ETH1 jsonrpc', () => pool('disabled'))
  expect(health.readiness().status).toBe(503)
  const serving = { state: 'eligible', since: '', why: 'verified', until: null } as const
  health.poolObserver('ETH1', 'jsonrpc').stateChanged?.('a', 'unverified', serving)
  expect(health.readiness().status).toBe(200)
})
