// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it } from 'vitest'
import type { FixedLimits } from '../config/types.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { nodeUrlConfig } from '../upstream/testing/node-url-config.ts'
import { Journal } from './call.ts'
import { RelayFixture, ethereum, result, type TestCall } from './testing/relay-fixture.ts'

const ok = { script: () => result('0x1') }
const refused = { fault: 'refused' } as const
const traced = { ...ok, urls: [{ addons: ['trace'] }] }
const trace: TestCall = { method: 'trace_block', params: ['latest'] }

interface Case {
  readonly name: string
  readonly request?: TestCall
  /** Used slots per upstream. */
  readonly taken: Readonly<Record<string, number>>
  readonly maxSessions?: number
  readonly isOneOfMany?: true
  readonly message: string
}

it.each<Case>([
  {
    name: 'every session is taken',
    taken: { a: 1_000, b: 1_000 },
    message:
      'no upstream can serve this call now (a: all 1,000 sessions are taken, b: all 1,000 sessions are taken)',
  },
  {
    name: 'the only session is taken',
    taken: { a: 1, b: 1 },
    maxSessions: 1,
    message:
      'no upstream can serve this call now (a: its only session is taken, b: its only session is taken)',
  },
  {
    name: 'only the sessions for calls that are alone on their connection are free',
    taken: { a: 900, b: 1_000 },
    isOneOfMany: true,
    message:
      'no upstream can serve this call now (a: the sessions that connections with many calls may have are taken, b: all 1,000 sessions are taken)',
  },
  {
    name: 'one upstream is full, the other excluded',
    request: { directives: { blockProviders: ['b'] } },
    taken: { a: 1_000 },
    message: 'no upstream can serve this call now (a: all 1,000 sessions are taken, b: excluded)',
  },
  {
    name: 'the upstream that declares the add-on is full',
    request: trace,
    taken: { b: 1_000 },
    message: 'no upstream with `trace` can serve this call now (b: all 1,000 sessions are taken)',
  },
  {
    name: 'the upstream that declares the add-on is excluded',
    request: { ...trace, directives: { blockProviders: ['b'] } },
    taken: {},
    message: 'no upstream with `trace` can serve this call now (b: excluded)',
  },
  {
    name: 'no upstream declares the add-on',
    request: { method: 'debug_getRawHeader', params: ['latest'] },
    taken: {},
    message:
      'debug_getRawHeader needs the add-on `debug`, which no upstream declares: add it to `addons` of a URL whose node serves it',
  },
])(
  'reports why no upstream is available: $name',
  async ({ request, taken, maxSessions = 1_000, isOneOfMany = false, message }) => {
    const { chain, iface } = await ethereum()
    const fixture = new RelayFixture(chain, iface, { a: ok, b: traced }, { maxSessions })
    const { call } = await fixture.ask(request)
    for (const upstream of fixture.pool.upstreams) upstream.usedSlots = taken[upstream.name] ?? 0
    const again = { ...call, journal: new Journal(fixture.clock.nowMs()) }
    again.journal.isOneOfMany = isOneOfMany
    await expect(fixture.relay(again)).rejects.toMatchObject({ message })
  },
)

it.each([
  { taken: 899, isOneOfMany: true, isServed: true },
  { taken: 900, isOneOfMany: true, isServed: false },
  { taken: 999, isOneOfMany: false, isServed: true },
])(
  '$taken of 1,000 slots are used; one of many: $isOneOfMany; served: $isServed',
  async ({ taken, isOneOfMany, isServed }) => {
    const { chain, iface } = await ethereum()
    const fixture = new RelayFixture(chain, iface, { a: ok })
    const { call } = await fixture.ask()
    fixture.pool.upstreams[0]!.usedSlots = taken
    const again = { ...call, journal: new Journal(fixture.clock.nowMs()) }
    again.journal.isOneOfMany = isOneOfMany
    const outcome = fixture.relay(again).then(
      () => true,
      () => false,
    )
    await fixture.clock.advance(1_000)
    expect(await outcome).toBe(isServed)
  },
)

it('reports only the cooldown of the upstream that has the add-on', async () => {
  const { chain, iface } = await ethereum()
  const fixture = new RelayFixture(chain, iface, { a: ok, b: traced, c: ok })
  const { call } = await fixture.ask(trace)
  fixture.pool.upstreams[1]!.urls[0]!.cooldown.begin(60_000)
  const again = { ...call, journal: new Journal(fixture.clock.nowMs()) }
  await expect(fixture.relay(again)).rejects.toMatchObject({
    kind: { reason: 'rate-limited' },
    message:
      'no upstream with `trace` can serve this call now (b: cooldown); the cooldown of b (rate limited) ends first',
  })
})

const limits = (more: Partial<FixedLimits>) => {
  return { limits: { perSecond: null, perDay: null, concurrent: null, ...more } }
}

it.each<
  [
    string,
    NonNullable<Parameters<typeof nodeUrlConfig>[1]>[],
    (urls: readonly NodeUrl[]) => void,
    string,
  ]
>([
  [
    'a limit per day',
    [limits({ perDay: 1 })],
    () => {},
    '(a: limit-reached (per-day 1)); a is the first below its limit again',
  ],
  [
    'a learned limit of several URLs, one of which is in cooldown',
    [limits({ perDay: 1 }), {}],
    ([, other]) => other!.cooldown.begin(null, 'quota', 'x'),
    '(a: limit-reached (per-day 1 at http://a-0.test)); the cooldown of a (quota exceeded) ends first',
  ],
])('names the limit: %s', async (_, urls, arrange, message) => {
  const { chain, iface } = await ethereum()
  const fixture = new RelayFixture(chain, iface, { a: { ...ok, urls } })
  const { call } = await fixture.ask()
  arrange(fixture.pool.upstreams[0]!.urls)
  const again = { ...call, journal: new Journal(fixture.clock.nowMs()) }
  await expect(fixture.relay(again)).rejects.toMatchObject({
    kind: { reason: 'rate-limited' },
    message: `no upstream can serve this call now ${message}`,
  })
})

it('rejects calls at once while every slot is used, and recovers when one is free', async () => {
  const { chain, iface } = await ethereum()
  const fixture = new RelayFixture(chain, iface, { a: ok, b: ok }, { maxSessions: 1 })
  const served = [fixture.begin(), fixture.begin()]
  for (let each = 0; each < 5; each++) {
    const { outcome, tookMs } = await fixture.begin()
    expect([outcome, tookMs]).toEqual(['no-upstream', 0])
  }
  await fixture.clock.advance(100)
  const reply = [...(await Promise.all(served)), await fixture.ask()]
  expect(reply.map(({ upstream }) => upstream)).toEqual(['a', 'b', 'a'])
  expect(fixture.events).toEqual([])
})

it.each([
  ['waits for a verification if no other upstream can serve it', 900, '0x1'],
  ['does not wait for a verification for more than a second', 1_100, 'no-upstream'],
])('a call %s', async (_, verifiedAfterMs, expected) => {
  const { chain, iface } = await ethereum()
  const relay = new RelayFixture(chain, iface, { a: ok })
  const [url] = relay.pool.upstreams[0]!.urls
  url!.verified = null
  relay.clock.after(verifiedAfterMs, () => {
    url!.verified = true
  })
  const { outcome } = await relay.ask()
  expect(JSON.stringify(outcome)).toContain(expected)
})

it.each([
  ['that is excluded', { directives: { blockProviders: ['b'] } }, 'no-upstream'],
  ['that lacks the add-on', trace, 'addon-not-declared'],
  ['while the other one is in cooldown', {}, 'rate-limited'],
] as const)(
  'a call does not wait for the verification of an upstream %s',
  async (_, request, expected) => {
    const { chain, iface } = await ethereum()
    const relay = new RelayFixture(chain, iface, { a: ok, b: ok })
    const [a, b] = relay.pool.upstreams
    b!.urls[0]!.verified = null
    if (expected === 'rate-limited') a!.urls[0]!.cooldown.begin(60_000)
    else a!.usedSlots = 1_000
    const { outcome, tookMs } = await relay.begin(request)
    expect([outcome, tookMs]).toEqual([expected, 0])
  },
)

it('a call that waits for a verification does not block trial calls', async () => {
  const { chain, iface } = await ethereum()
  const relay = new RelayFixture(chain, iface, { a: { script: () => refused }, b: traced })
  relay.pool.upstreams[1]!.urls[0]!.verified = null
  const asksA = { directives: { blockProviders: ['b'] } }
  while (!relay.events.includes('breaker open')) await relay.ask(asksA)
  const waits = relay.begin(trace)
  await relay.clock.advance(200)
  const tries = await relay.ask(asksA)
  expect(tries.outcome).toBe('upstream-failed')
  await relay.clock.advance(1_000)
  expect((await waits).outcome).toBe('no-upstream')
})

it.each([
  ['while all upstreams in service are full', {}],
  ['while all upstreams in service are excluded', { directives: { blockProviders: ['a'] } }],
])('a call does not wait for an unreachable upstream %s', async (_, request) => {
  const { chain, iface } = await ethereum()
  const never = { ...ok, verified: false }
  const relay = new RelayFixture(chain, iface, { a: ok, never }, { maxSessions: 1 })
  const [a, unreached] = relay.pool.upstreams
  a!.usedSlots = 1
  unreached!.urls[0]!.isUnreached = true
  const { outcome, tookMs } = await relay.begin(request)
  expect([outcome, tookMs]).toEqual(['no-upstream', 0])
})

it('a call that needs an add-on waits for its upstream while others serve', async () => {
  const { chain, iface } = await ethereum()
  const relay = new RelayFixture(chain, iface, { a: ok, b: { ...traced, verified: false } })
  const [, b] = relay.pool.upstreams
  const pending = relay.begin(trace)
  await relay.clock.advance(600)
  b!.urls[0]!.verified = true
  b!.availability.verified()
  await relay.clock.advance(100)
  expect(await pending).toMatchObject({ upstream: 'b', incoming: { status: 200 } })
})
