// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { aCall, repliedBy } from '../telemetry/call.fixture.ts'
import { ConfigState, timeOf } from '../telemetry/config-state.ts'
import { createEventLog } from '../telemetry/event-log.ts'
import { explainPage } from '../telemetry/explain/explain-page.ts'
import { CallHistory } from '../telemetry/explain/call-history.ts'
import { Health } from '../telemetry/health.ts'
import { RecentCounts } from '../telemetry/recent-counts.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { series } from '../telemetry/series.ts'
import { latest, PoolFixture } from '../upstream/testing/pool-fixture.ts'
import type { PoolObserver, StateRecord } from '../upstream/observer.ts'
import { RateLimit } from '../upstream/rate-limit.ts'
import { noTroubles } from './facts.fixture.ts'
import { createFacts } from './facts.ts'

const dayMs = 24 * 3_600_000
const epochSeconds = 900
/** A time on the virtual wall clock, in seconds after its start. */
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString()

/** Upstreams `a` and a healthy `b` of one chain, and every surface that shows their states. */
class Fixture extends PoolFixture {
  readonly changes: string[] = []
  readonly metrics
  readonly #read

  constructor() {
    let observer: PoolObserver | null = null
    super('ab', undefined, {
      isUnverified: true,
      epochDurationMs: epochSeconds * 1_000,
      observer: {
        stateChanged: (...event) => observer?.stateChanged(...event),
        cooldownBegan() {},
        verificationFailed() {},
      },
    })
    const { clock, pool, changes } = this
    const config = new ConfigState(clock, 'ab12')
    const metrics = createMetrics({ version: '1.2.3', budget: new ByteBudget(1e9), config })
    const health = new Health(clock, config)
    const calls = new CallHistory(clock)
    const write = (_: string, { upstream, from, to, why }: Record<string, unknown> = {}) => {
      if (upstream === 'a')
        changes.push(
          `${String(from)} > ${String(to)}: ${String(why).replace(/\d+ blocks/, '# blocks')}`,
        )
    }
    const logger = { debug: write, info: write, warn: write, error: write, writes: () => true }
    observer = createEventLog({ logger, clock }).poolObserver('ETH1', 'jsonrpc')
    const snapshot = () => pool.snapshot()
    metrics.registerPool('ETH1', 'jsonrpc', snapshot)
    health.register('ETH1 jsonrpc', snapshot)
    const counts = new RecentCounts(metrics, clock)
    const facts = createFacts({
      ...{ counts, health, troubles: { since: {}, methods: {} }, callTroubles: noTroubles },
      ...{ calls, config, clock },
      addresses: () => [],
    })
    this.metrics = metrics
    this.#read = { facts, health, calls }
    this.verify('b')
  }

  passed(seconds: number): Promise<void> {
    return this.clock.advance(seconds * 1_000)
  }

  /** What each surface shows about `a`: its state, since when, and why. */
  async shown() {
    const { facts, health, calls } = this.#read
    const ofFacts = (await facts()).chains[0]!.upstreams[0]!
    const [ofStatus] = (JSON.parse(await health.status()) as { upstreams: StateRecord[] }).upstreams
    const samples = await this.metrics.samples(series.upstreamState)
    const states = samples.filter(({ labels, value }) => labels['upstream'] === 'a' && value === 1)
    const times = await this.metrics.samples(series.upstreamStateSince)
    const time = times.find(({ labels }) => labels['upstream'] === 'a')
    const call = aCall({ guid: 'g' })
    this.pool.pick.next(this.wanted({ block: latest }), 'balanced', call.journal)
    call.journal.begin('b', 'first', 0)
    calls.listenerObserver('ETH1', 'jsonrpc').callEnded(call, repliedBy('b'), 1)
    const text = explainPage(calls, 'g', { format: 'text' }).body
    return {
      record: {
        state: ofFacts.state,
        since: ofFacts.since,
        why: ofFacts.why,
        until: ofFacts.until,
      } satisfies StateRecord,
      status: { state: ofStatus?.state, since: ofStatus?.since, why: ofStatus?.why },
      metrics: [states.map(({ labels }) => labels['state']), timeOf((time?.value ?? 0) * 1_000)],
      readiness: /; a (.*)/.exec(health.readiness(true).body)?.[1] ?? 'not listed',
      explain: /^ +a .*?(?: yes|no: (?:cooldown, \S+ left; )?(.*))$/m.exec(text)?.[1] ?? 'yes',
    }
  }
}

interface Row {
  readonly arrange: (fixture: Fixture) => Promise<void> | void
  readonly state: StateRecord['state']
  /** Seconds after the start. */
  readonly since: number
  readonly why: string | null
  readonly until?: number
  /** Log lines. The number of missing blocks depends on which node reports first. */
  readonly log: readonly string[]
}

const verified = 'unverified > eligible: verified'
const fellBehind = 'eligible > lagging: # blocks behind the tip'
const cooldown = 'rate limited, wait requested by the node at http://a.test'
const verify = async (fixture: Fixture) => {
  await fixture.passed(5)
  fixture.verify('a')
  for (const name of 'ab') fixture.sees(name, 100)
  await fixture.passed(5)
}
/** Moves the tip away from `a`, which then reports its progress. */
const fallBehind = (
  fixture: Fixture,
  blocks: number,
  status?: { isSyncing: boolean; ageMs: number },
) => {
  const { tracker } = fixture.pool
  const atMs = fixture.clock.nowMs()
  tracker.observeStatus(fixture.upstream('b'), { isSyncing: false, ageMs: 0, atMs })
  if (status) tracker.observeStatus(fixture.upstream('a'), { ...status, atMs })
  fixture.sees('b', 100 + blocks)
  fixture.sees('a', 100)
}

test.each<[string, Row]>([
  [
    'a healthy upstream',
    { arrange: verify, state: 'eligible', since: 5, why: null, log: [verified] },
  ],
  [
    'an upstream that serves and fails at times',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        const [url] = fixture.upstream('a').urls
        url!.failures = 3
        url!.lastFailure = 'attempt-timeout'
      },
      state: 'eligible',
      since: 5,
      why: '3 failures in a row, the last: attempt-timeout',
      log: [verified],
    },
  ],
  [
    'an upstream whose requests of the day are used up',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        const [url] = fixture.upstream('a').urls
        const limits = { perSecond: null, perDay: 20, concurrent: null }
        url!.limit = new RateLimit(fixture.clock, limits)
        for (let each = 0; each < 20; each++) url!.limit.begin()
      },
      state: 'eligible',
      since: 5,
      why: 'its limit of 20 requests a day is reached until 00:00 UTC',
      log: [verified],
    },
  ],
  [
    'an upstream that a learned limit holds back',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        const [url] = fixture.upstream('a').urls
        url!.limit = new RateLimit(fixture.clock)
        for (let each = 0; each < 50; each++) url!.limit.answered()
        url!.limit.refused()
        for (let each = 0; each < 40; each++) url!.limit.begin()
        url!.admits()
      },
      state: 'eligible',
      since: 5,
      why: 'held back by a learned limit of 40 a second',
      log: [verified],
    },
  ],
  [
    'a lagging upstream',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 9)
      },
      state: 'lagging',
      since: 10,
      why: '9 blocks behind the tip',
      log: [verified, fellBehind],
    },
  ],
  [
    'an upstream that is syncing',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 1, { isSyncing: true, ageMs: dayMs })
      },
      state: 'lagging',
      since: 10,
      why: 'says that it is syncing',
      log: [verified, 'eligible > lagging: says that it is syncing'],
    },
  ],
  [
    'an upstream with an old block that is syncing and far behind',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 10, { isSyncing: true, ageMs: 2 * dayMs })
      },
      state: 'lagging',
      since: 10,
      why: 'says that it is syncing; 10 blocks behind the tip',
      log: [verified, 'eligible > lagging: says that it is syncing'],
    },
  ],
  [
    'an upstream with an old latest block',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 10, { isSyncing: false, ageMs: 3 * dayMs })
      },
      state: 'lagging',
      since: 10,
      why: 'its latest block is 3 d old; 10 blocks behind the tip',
      log: [verified, 'eligible > lagging: its latest block is 3 d old; # blocks behind the tip'],
    },
  ],
  [
    'an upstream that caught up',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 9)
        await fixture.passed(15)
        fixture.sees('a', 109)
        await fixture.passed(10)
      },
      state: 'eligible',
      since: 25,
      why: null,
      log: [verified, fellBehind, 'lagging > eligible: caught up'],
    },
  ],
  [
    'an upstream in cooldown',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.cooldown('a')
        await fixture.passed(10)
      },
      state: 'cooldown',
      since: 10,
      why: cooldown,
      until: 40,
      log: [verified],
    },
  ],
  [
    'an upstream whose cooldown ended long before the check',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.cooldown('a')
        await fixture.passed(100)
        fixture.upstream('a').succeeded(fixture.upstream('a').urls[0]!, 10)
      },
      state: 'eligible',
      since: 40,
      why: null,
      log: [verified],
    },
  ],
  [
    'an upstream that fell behind during its cooldown',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.cooldown('a')
        await fixture.passed(10)
        fallBehind(fixture, 9)
        await fixture.passed(60)
      },
      state: 'lagging',
      since: 40,
      why: '9 blocks behind the tip',
      log: [verified, fellBehind],
    },
  ],
  [
    'an upstream that fell behind after its cooldown',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.cooldown('a')
        await fixture.passed(60)
        fallBehind(fixture, 9)
      },
      state: 'lagging',
      since: 70,
      why: '9 blocks behind the tip',
      log: [verified, fellBehind],
    },
  ],
  [
    'an upstream that is limited again within a minute',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.cooldown('a')
        await fixture.passed(50)
        fixture.cooldown('a')
      },
      state: 'cooldown',
      since: 10,
      why: cooldown,
      until: 90,
      log: [verified],
    },
  ],
  [
    'an upstream that was never probed',
    {
      arrange: (fixture) => fixture.passed(60),
      state: 'unverified',
      since: 0,
      why: null,
      log: [],
    },
  ],
  [
    'an upstream that never answered',
    {
      arrange: async (fixture) => {
        await fixture.passed(60)
        fixture.upstream('a').urls[0]!.refusal = 'reach: connection-refused (ECONNREFUSED)'
      },
      state: 'unverified',
      since: 0,
      why: 'http://a.test is not used: reach: connection-refused (ECONNREFUSED)',
      log: [],
    },
  ],
  [
    'an upstream that limits even its first verification',
    {
      arrange: async (fixture) => {
        await fixture.passed(60)
        fixture.cooldown('a')
      },
      state: 'unverified',
      since: 0,
      why: cooldown,
      until: 90,
      log: [],
    },
  ],
  [
    'an upstream whose head has jumped',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        await fixture.passed(80)
        fixture.sees('a', 5_000_000)
        await fixture.passed(1)
      },
      state: 'unverified',
      since: 90,
      why: 'http://a.test is not used: head: went from 100 to 5000000: verified again before it serves',
      log: [
        verified,
        'eligible > unverified: http://a.test is not used: head: went from 100 to 5000000: verified again before it serves',
      ],
    },
  ],
  [
    'an upstream of another chain',
    {
      arrange: async (fixture) => {
        await fixture.passed(3)
        const { urls, availability } = fixture.upstream('a')
        urls[0]!.verified = false
        urls[0]!.refusal = 'chain-id: expected 0x1, the node reported 0x5'
        availability.rejected('no URL of it passes verification')
        await fixture.passed(60)
      },
      state: 'rejected',
      since: 3,
      why: 'http://a.test is not used: chain-id: expected 0x1, the node reported 0x5',
      log: [
        'unverified > rejected: http://a.test is not used: chain-id: expected 0x1, the node reported 0x5',
      ],
    },
  ],
  [
    'an upstream that fails',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.disable('a')
        await fixture.passed(60)
      },
      state: 'disabled',
      since: 10,
      why: 'reset',
      until: epochSeconds,
      log: [verified, 'eligible > disabled: reset'],
    },
  ],
  [
    'an upstream that fails while it lags',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fallBehind(fixture, 9)
        await fixture.passed(2)
        fixture.disable('a')
      },
      state: 'disabled',
      since: 12,
      why: 'reset',
      until: epochSeconds,
      log: [verified, fellBehind, 'lagging > disabled: reset'],
    },
  ],
  [
    'an upstream that recovers, still behind the tip',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.disable('a')
        fallBehind(fixture, 9)
        await fixture.passed(20)
        fixture.upstream('a').availability.succeeded()
      },
      state: 'lagging',
      since: 30,
      why: '9 blocks behind the tip',
      log: [verified, 'eligible > disabled: reset', 'disabled > lagging: # blocks behind the tip'],
    },
  ],
  [
    'an upstream that fails its trial at each epoch',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.disable('a')
        for (let epoch = 0; epoch < 3; epoch++) {
          await fixture.passed(epochSeconds)
          fixture.upstream('a').availability.epochBegan()
          await fixture.passed(2)
          fixture.disable('a')
        }
      },
      state: 'disabled',
      since: 10,
      why: 'reset',
      until: 4 * epochSeconds,
      log: [
        verified,
        'eligible > disabled: reset',
        ...Array.from({ length: 3 }, () => [
          'disabled > eligible: a new epoch began',
          'eligible > disabled: reset',
        ]).flat(),
      ],
    },
  ],
  [
    'an upstream that failed again after a minute',
    {
      arrange: async (fixture) => {
        await verify(fixture)
        fixture.disable('a')
        fixture.upstream('a').availability.succeeded()
        await fixture.passed(60)
        fixture.disable('a')
      },
      state: 'disabled',
      since: 70,
      why: 'reset',
      until: epochSeconds,
      log: [
        verified,
        'eligible > disabled: reset',
        'disabled > eligible: answered again',
        'eligible > disabled: reset',
      ],
    },
  ],
])('every surface shows the same state, since when and why: %s', async (_name, row) => {
  const fixture = new Fixture()
  await row.arrange(fixture)
  const { state, why } = row
  const since = at(row.since)
  const until = row.until === undefined ? null : at(row.until)
  const end = until === null ? '' : `; until ${until}`
  const text = `${state} since ${since}${why === null ? '' : `: ${why}`}${end}`
  expect(await fixture.shown()).toEqual({
    record: { state, since, why, until },
    status: { state, since, why },
    metrics: [[state], since],
    readiness: state === 'eligible' && why === null ? 'not listed' : text,
    explain: state === 'eligible' ? 'yes' : text,
  })
  expect(fixture.changes).toEqual(row.log)
})
